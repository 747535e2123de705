"""What the hub's client can raise, as one sentence for a person.

Never the request: its headers may carry a token, and its address a signature.
"""

from __future__ import annotations

import errno
from typing import Final

import filelock
from huggingface_hub import errors
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined] # whichever client the hub's library uses

HUB_ERRORS: Final = (
    HTTPError,
    errors.HFValidationError,
    filelock.Timeout,
    OSError,
    ValueError,
    RuntimeError,
)

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EROFS)


def explained(error: Exception, *, repo: str, file: str = "") -> str:
    """Return what happened to a file or a whole repository, and what to do."""
    what = f"hf:{repo}/{file}" if file else f"The list of hf:{repo}"
    match error:
        case errors.GatedRepoError():
            return (
                f"{repo} is gated: accept its conditions on its page on the hub, then set the variable HF_TOKEN to a "
                "token of your account."
            )
        case errors.RepositoryNotFoundError():
            return f"The hub has no repository {repo}, or it is private: check the name, or set HF_TOKEN."
        case errors.EntryNotFoundError() if not isinstance(error, errors.LocalEntryNotFoundError):
            return f"The hub's repository {repo} has no file {file}: check the name on its page."
        case errors.HFValidationError():
            return f"{repo} can't be a repository of the hub: write OWNER/REPO."
        case errors.HfHubHTTPError():
            return _answered(what, error.response.status_code)
        case NotImplementedError():  # filelock's sign for a file system without locks
            return (
                f"{what} can't be downloaded to this folder, because its file system has no file locks. "
                "Set `engine.weights` to a folder on a local disk."
            )
        case errors.OfflineModeIsEnabled():
            return f"{what} couldn't be fetched: HF_HUB_OFFLINE is set, so the hub is not asked."
        case HTTPError() | ConnectionError() | TimeoutError() | errors.LocalEntryNotFoundError():
            return (
                f"{what} couldn't be fetched: the hub can't be reached, or the connection broke off. The same command "
                "goes on where it stopped."
            )
        case OSError():
            return _stored(what, error)
        case _:
            return f"{what} couldn't be fetched: what answered is not the hub ({type(error).__name__})."


def _answered(what: str, status: int) -> str:
    if status in (401, 403):
        return f"{what} couldn't be fetched: the hub refuses it ({status}); check the token in HF_TOKEN."
    return f"{what} couldn't be fetched: the hub answered {status}; try again later."


def _stored(what: str, error: OSError) -> str:
    if error.errno in _FULL:
        return f"{what} couldn't be stored: the disk is full. Make room; the same command goes on where it stopped."
    if error.errno in _FORBIDDEN:
        return f"{what} couldn't be stored: {error.filename or 'the folder'} is not writable; choose another folder."
    if error.errno is None:  # the client's own complaint about a size
        return f"{what} came cut short: what the hub sent is not as long as it promised; try again."
    return f"{what} couldn't be stored ({error.strerror or type(error).__name__})."
