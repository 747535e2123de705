"""A text that can't be a bot token is named for what it is and never quoted."""

from __future__ import annotations

import pytest

from bot.settings.bot_token import require_bot_token
from bot.settings.value_types import clean_secret

TOKEN = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"


@pytest.mark.parametrize(
    "text",
    [
        TOKEN,
        f"  {TOKEN}\n",
        f'"Bot {TOKEN}"',
        "MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.GaBcDe.a-b_c" + "x" * 30,
        "MTIz.wrong.token-your-token-here",
    ],
)
def test_a_bot_token_is_accepted(text: str) -> None:
    assert require_bot_token(clean_secret(text)) == clean_secret(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("aB3-" * 8, "the client secret of an application"),
        ("198622483471925248", "an id (of an application"),
        ("1234567890123456789", "an id (of an application"),
        ("0123456789abcdef" * 4, "the public key of an application"),
        ("0123456789ABCDEF" * 4, "the public key of an application"),
        ("https://discord.com/api/webhooks/123/abc", "the address of a webhook"),
        ("https://canary.discord.com/api/v10/webhooks/123/abc", "the address of a webhook"),
        ("https://discord.com/oauth2/authorize?client_id=1", "a web address"),
        ("discord.gg/abcdef", "a web address"),
        ("mfa.VkO_2G4Qv3T--NO--lWetW_tjND", "the token of a person's own account"),
        ("your_token_here", "a placeholder"),
        ("YOUR-BOT-TOKEN", "a placeholder"),
        ("<token>", "a placeholder"),
        ("token", "a placeholder"),
        ("xxxxxxxx", "a placeholder"),
        ("changeme", "a placeholder"),
        ("${DISCORD_TOKEN}", "a placeholder"),
        ("{{ discord_token }}", "a placeholder"),
        ("insert token here", "a placeholder"),
        ("None", "a placeholder"),
        ("…", "characters that can't be in a token"),
        ("MTk4NjIyNDgzNDcxOTI1MjQ4...", "a placeholder"),
        (f"TOKEN={TOKEN}", "the whole line of a file"),
        (f"DISCORD_TOKEN={TOKEN}", "the whole line of a file"),
        (f'export DISCORD_TOKEN="{TOKEN}"', "the whole line of a file"),
        (f"token: {TOKEN}", "the whole line of a file"),
        (f"{TOKEN} # the bot's", "there is a comment behind"),
        (f"{TOKEN} # für den Bot", "there is a comment behind"),
        ("sk-abcdefghijklmnop", "a key of another service"),
        ("hf_abcdefghijklmnop", "a key of another service"),
        ("ghp_abcdefghijklmnop", "a key of another service"),
        ("a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5", "an OAuth2 access token"),
        ("a.b.c", "its first part is not an id"),
        (TOKEN.rpartition(".")[0], "only a part of one"),
        ("hunter2", "only a part of one"),
    ],
)
def test_another_text_is_named_and_not_quoted(text: str, kind: str) -> None:
    with pytest.raises(ValueError, match=r"\. ") as caught:
        require_bot_token(clean_secret(text))
    message = str(caught.value)
    assert kind in message
    for part in {text, *text.split(), *text.split("/")}:
        assert len(part) < 8 or part not in message.replace("discord.com", "")
