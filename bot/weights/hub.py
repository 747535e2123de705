"""Access to the Hugging Face hub: list a repository and download its files.

Interrupted downloads resume. Listing and transfer use the hub's client. Ours are the partial file
beside the target, which the next attempt resumes (the client deletes its own), the lock, and the
checks: free disk space before, size and hash after. The variable HF_ENDPOINT sets the address.
Private and gated repositories need HF_TOKEN, which only the client reads.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import filelock
import huggingface_hub
from huggingface_hub import file_download
from huggingface_hub.utils import (  # type: ignore[attr-defined] # documented, but not exported
    build_hf_headers,
    hf_raise_for_status,
    tqdm,
)

from bot.errors import NoSuchModel, WeightsError
from bot.weights.hashes import Hash
from bot.weights.hub_errors import HUB_ERRORS, describe_error
from bot.weights.network_environment import require_valid_endpoint, require_valid_proxies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# Called from the downloading thread with the bytes received and the total.
Progress: TypeAlias = Callable[[int, int], None]

MARGIN = 256 * 2**20  # bytes to leave free on the disk
_WITHOUT_CHECK = (
    huggingface_hub.constants.MAX_HTTP_DOWNLOAD_SIZE
)  # the client can't check the size of larger files


@dataclass(frozen=True, slots=True)
class HubFileInfo:
    """One file in a repository's listing. Size in bytes."""

    name: str
    size: int
    hash: Hash | None


@dataclass(frozen=True)
class HubRepository:
    """A repository at one commit."""

    name: str
    commit: str
    files: dict[str, HubFileInfo]

    def file(self, name: str) -> HubFileInfo:
        """Return that file. Raise WeightsError, with the available GGUF files, if it is missing."""
        if name in self.files:
            return self.files[name]
        there = ", ".join(sorted(one for one in self.files if one.endswith(".gguf"))[:12])
        raise NoSuchModel(
            f"The hub repository {self.name} has no file {name}. "
            + (f"Its GGUF files: {there}." if there else "It has no GGUF files.")
        )


class Hub:
    """The hub at HF_ENDPOINT. Every call blocks on the network."""

    def __init__(
        self, endpoint: str | None = None, notice: Callable[[str], None] | None = None
    ) -> None:
        """`notice` receives messages for a waiting person."""
        self._notice = notice or (lambda _: None)
        require_valid_proxies()
        self._endpoint = require_valid_endpoint(
            endpoint or os.environ.get("HF_ENDPOINT") or huggingface_hub.constants.ENDPOINT
        )
        self._api = huggingface_hub.HfApi(endpoint=self._endpoint)
        logging.getLogger("huggingface_hub").setLevel(
            logging.ERROR
        )  # what goes wrong is told once, by us

    def repository(self, name: str, *, timeout: float = 15.0) -> HubRepository:
        """Return the current content of a repository. Raise WeightsError."""
        try:
            info = self._api.model_info(name, files_metadata=True, timeout=timeout)
        except HUB_ERRORS as error:
            raise describe_error(error, repo=name) from error
        if not info.sha:
            raise WeightsError(
                f"The answer for {name} is not from the hub. Check HF_ENDPOINT and the network."
            )
        files = [
            HubFileInfo(
                one.rfilename,
                one.size or 0,
                Hash.from_listing(one.lfs.sha256 if one.lfs else None, one.blob_id),
            )
            for one in info.siblings or []
        ]
        return HubRepository(name, info.sha, {one.name: one for one in files})

    def first_repository(self, names: Iterable[str]) -> HubRepository:
        """Return the first of these repositories that exists. Raise WeightsError if none does."""
        missing: NoSuchModel | None = None
        for name in names:
            try:
                return self.repository(name)
            except NoSuchModel as error:
                missing = missing or error
        raise missing or WeightsError("No repository is named. Write OWNER/REPO.")

    def fetch(
        self,
        repository: HubRepository,
        file: HubFileInfo,
        target: Path,
        progress: Progress | None = None,
    ) -> None:
        """Download a file to `target`, and resume an interrupted download.

        Does no work if the file is complete. Waits if another process is downloading the same file.
        Raise WeightsError.
        """
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._alone(target):
                if not (target.is_file() and target.stat().st_size == file.size):
                    self._fetch(repository, file, target, progress)
        except HUB_ERRORS as error:
            raise describe_error(error, repo=repository.name, file=file.name) from error

    def read(
        self, repo: str, name: str, *, size: int | None = None, timeout: float = 15.0
    ) -> bytes:
        """Return a small file, or the first `size` bytes of a large one. Raise WeightsError."""
        address = huggingface_hub.hf_hub_url(repo, name, endpoint=self._endpoint)
        headers = build_hf_headers() | ({"Range": f"bytes=0-{size - 1}"} if size else {})
        try:
            answer = huggingface_hub.get_session().get(
                address, headers=headers, timeout=timeout, follow_redirects=True
            )
            hf_raise_for_status(answer)
        except HUB_ERRORS as error:
            raise describe_error(error, repo=repo, file=name) from error
        return bytes(answer.content)

    @contextlib.contextmanager
    def _alone(self, target: Path) -> Iterator[None]:
        lock = filelock.FileLock(target.with_name(f".{target.name}.lock"))
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            self._notice(f"Another process is downloading {target.name}. Waiting for it.")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _fetch(
        self, repository: HubRepository, file: HubFileInfo, target: Path, progress: Progress | None
    ) -> None:
        part = target.with_name(f"{target.name}.{repository.commit[:12]}.part")
        for older in target.parent.glob(f"{target.name}.*.part"):
            if older != part:
                older.unlink()
        with part.open("r+b" if part.exists() else "w+b") as stream:
            there = stream.seek(0, os.SEEK_END)
            if there > file.size:
                there = stream.seek(0)
                stream.truncate()
            require_space(target.parent, file.size - there, f"hf:{repository.name}/{file.name}")
            self._transfer(repository, file, stream, there, progress)
        if file.hash and not file.hash.matches(part):
            part.unlink()
            raise WeightsError(
                f"hf:{repository.name}/{file.name} arrived with a wrong hash, so it was "
                "deleted. Try again. If it fails again, check for a proxy that changes "
                "downloads."
            )
        part.replace(target)

    def _transfer(
        self,
        repository: HubRepository,
        file: HubFileInfo,
        stream: BinaryIO,
        there: int,
        progress: Progress | None,
    ) -> None:
        address = huggingface_hub.hf_hub_url(
            repository.name, file.name, revision=repository.commit, endpoint=self._endpoint
        )
        try:
            file_download.http_get(
                address,
                stream,
                resume_size=there,
                headers=build_hf_headers(),
                expected_size=file.size if file.size <= _WITHOUT_CHECK else None,
                tqdm_class=_meter(there, file.size, progress),
            )
        except OSError as error:
            if error.errno is None and not isinstance(error, ConnectionError | TimeoutError):
                stream.truncate(0)  # the client reports a wrong length like this
            raise


def require_space(folder: Path, needed: int, what: str) -> None:
    """Raise WeightsError if `needed` bytes don't fit on the disk of the existing `folder`."""
    free = shutil.disk_usage(folder).free
    if needed > 0 and free < needed + MARGIN:
        raise WeightsError(
            f"{what} needs {needed / 2**30:.1f} GiB, but only {free / 2**30:.1f} GiB are free "
            f"in {folder}. Free some space, or set `engine.weights` in aside.yaml to another "
            "folder."
        )


def _meter(there: int, total: int, progress: Progress | None) -> type[tqdm]:
    """Return a silent tqdm class that reports to `progress`."""

    class Meter(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})  # type: ignore[no-untyped-call] # tqdm has no types

        def update(self, n: float | None = 1) -> None:
            nonlocal there
            there += int(n or 0)
            if progress:
                progress(there, total)

    return Meter
