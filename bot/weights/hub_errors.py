"""Explain the errors of the hub's client in one sentence.

The request is never shown: its headers may contain a token, and its address a signature.
"""

from __future__ import annotations

import errno
from typing import Final

import filelock
from huggingface_hub import errors
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined] # whichever client the hub's library uses

from bot.errors import NoSuchModel, WeightsError

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


def describe_error(error: Exception, *, repo: str, file: str = "") -> WeightsError:
    """Return the error for a file or a whole repository.

    It is NoSuchModel if the hub has nothing of this name.
    """
    missing = isinstance(
        error,
        errors.RepositoryNotFoundError | errors.EntryNotFoundError | errors.HFValidationError,
    ) and not isinstance(error, errors.GatedRepoError | errors.LocalEntryNotFoundError)
    return (NoSuchModel if missing else WeightsError)(explain(error, repo=repo, file=file))


def explain(error: Exception, *, repo: str, file: str = "") -> str:
    """Return the explanation of an error for a file or a whole repository."""
    what = f"hf:{repo}/{file}" if file else f"The list of hf:{repo}"
    match error:
        case errors.GatedRepoError():
            return (
                f"{repo} is gated. Accept its conditions on its hub page, then set HF_TOKEN "
                "to a token of your account."
            )
        case errors.RepositoryNotFoundError():
            return (
                f"The hub has no repository {repo}, or it is private. Check the name, or set "
                "HF_TOKEN."
            )
        case errors.EntryNotFoundError() if not isinstance(error, errors.LocalEntryNotFoundError):
            return f"The hub repository {repo} has no file {file}. Check the name on its page."
        case errors.HFValidationError():
            return f"{repo} is not a name of a hub repository. Write OWNER/REPO."
        case errors.HfHubHTTPError():
            return _explain_status(what, error.response.status_code)
        case NotImplementedError():  # filelock's sign for a file system without locks
            return (
                f"{what} can't be downloaded to this folder, because its file system has no "
                "file locks. Set `engine.weights` to a folder on a local disk."
            )
        case errors.OfflineModeIsEnabled():
            return f"{what} can't be downloaded, because HF_HUB_OFFLINE is set. Unset it."
        case HTTPError() | ConnectionError() | TimeoutError() | errors.LocalEntryNotFoundError():
            return (
                f"{what} can't be downloaded, because the hub can't be reached or the connection "
                "was lost. Run the same command again to resume."
            )
        case OSError():
            return _explain_os_error(what, error)
        case _:
            return (
                f"{what} can't be downloaded. The answer is not from the hub "
                f"({type(error).__name__}). Check HF_ENDPOINT and the network."
            )


def _explain_status(what: str, status: int) -> str:
    if status in (401, 403):
        return f"The hub refused {what} (status {status}). Check the token in HF_TOKEN."
    return f"{what} can't be downloaded. The hub answered {status}. Try again later."


def _explain_os_error(what: str, error: OSError) -> str:
    if error.errno in _FULL:
        return (
            f"{what} can't be stored, because the disk is full. Free some space and run the same "
            "command again to resume."
        )
    if error.errno in _FORBIDDEN:
        return (
            f"{what} can't be stored, because {error.filename or 'the folder'} is not writable. "
            "Choose another folder."
        )
    if error.errno is None:  # the client reports a wrong size like this
        return f"{what} arrived shorter than announced. Try again."
    return f"{what} can't be stored ({error.strerror or type(error).__name__})."
