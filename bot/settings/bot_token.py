"""Recognise a text that can't be a bot token and name what it is instead.

A bot token has three parts with dots between them. The first part is the bot's id in base64.
No message quotes any part of the text, because it may be another secret.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

_PORTAL: Final = "https://discord.com/developers/applications"
_COPY: Final = f"Copy the token at {_PORTAL} (Bot, Reset Token)"
_TOKEN: Final = re.compile(r"([\w-]+)\.[\w-]+\.[\w-]+", re.ASCII)

# The first pattern that matches decides. The text has no spaces, because they are removed first.
_MISTAKES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), problem)
    for pattern, problem in (
        (
            r"(export)?[a-z_]\w*=.*|\w*token:.*",
            "this is the whole line of a file. Keep only the part after `=`, without the name",
        ),
        (
            r"https?://.*/api/(v\d+/)?webhooks/.*",
            f"this is the address of a webhook, not a bot token. {_COPY}",
        ),
        (
            r"https?://.*|(www\.)?discord(app)?\.(com|gg)/.*",
            f"this is a web address, not a bot token. {_COPY}",
        ),
        (r".*#.*", "there is a comment behind the token. Delete everything from the `#` on"),
        (r"mfa\..*", f"this is the token of a person's own account. {_COPY}"),
        (r"\d{15,21}", f"this is an id (of an application, a bot or a user). {_COPY}"),
        (r"[0-9a-f]{64}", f"this is the public key of an application. {_COPY}"),
        (
            r"(sk-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abp]-|AIza|AKIA).*",
            f"this is a key of another service. {_COPY}",
        ),
        (
            (
                r".*[<>{}$%…*].*|.*\.\.\.|x+|none|null|nil|undefined|todo|tbd|change_?me|"
                r".*(your|my|bot|insert|paste|placeholder|example|replace|secret|here|discord)"
                r".*(token|here|this|me|bot|key).*|(bot_?|discord_?|the_?)*token"
            ),
            f"this is a placeholder. {_COPY}",
        ),
        (r"[\w-]{32}", f"this is the client secret of an application. {_COPY}"),
        (r"[a-z0-9]{30}", f"this is an OAuth2 access token. {_COPY}"),
    )
)


def require_bot_token(text: str) -> str:
    """Return `text` if it has the form of a bot token.

    `text` has no spaces or quotes around it, as `clean_secret` returns it. Raises ValueError with
    the mistake and the fix. The message never quotes the text.
    """
    if (found := _TOKEN.fullmatch(text)) and _is_id(found[1]):
        return text
    for pattern, problem in _MISTAKES:
        if pattern.fullmatch(text):
            raise ValueError(problem)
    if found:
        raise ValueError(f"this is not a bot token, because its first part is not an id. {_COPY}")
    raise ValueError(
        f"this is not a bot token, or only a part of one. It has three parts with dots. {_COPY}"
    )


def _is_id(part: str) -> bool:
    """Return whether this is the base64 form of an id, as in the first part of a token."""
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).isdigit()
    except (binascii.Error, ValueError):
        return False
