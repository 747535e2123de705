"""The Hugging Face hub: what a repository holds, and its files, fetched so that they go on where they broke off.

Listing and transfer are the hub's own client's. What is ours is the file beside the target that a broken-off transfer
leaves and the next one continues (the client throws its own away), the lock, and the checks: free disk before, size
and hash after. The address is the variable HF_ENDPOINT's where it is set; a private or gated repository needs
HF_TOKEN, which only the client reads.
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
from huggingface_hub.utils import (  # type: ignore[attr-defined] # documented there
    build_hf_headers,
    hf_raise_for_status,
    tqdm,
)

from bot.errors import WeightsError
from bot.weights.hashes import Hash
from bot.weights.hub_errors import HUB_ERRORS, explained
from bot.weights.network_environment import require_valid_endpoint, require_valid_proxies

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Called from the fetching thread with the bytes that are there and the bytes there will be.
Progress: TypeAlias = Callable[[int, int], None]

MARGIN = 256 * 2**20  # bytes left free on the disk
_WITHOUT_CHECK = (
    huggingface_hub.constants.MAX_HTTP_DOWNLOAD_SIZE
)  # larger ones the client refuses to measure


@dataclass(frozen=True, slots=True)
class Listed:
    """One file of a repository, as the hub lists it. Sizes in bytes."""

    name: str
    size: int
    hash: Hash | None


@dataclass(frozen=True)
class HubRepository:
    """A repository at one commit."""

    name: str
    commit: str
    files: dict[str, Listed]

    def file(self, name: str) -> Listed:
        """Return that file. Raises WeightsError, naming the GGUF files there are."""
        if name in self.files:
            return self.files[name]
        there = ", ".join(sorted(one for one in self.files if one.endswith(".gguf"))[:12])
        raise WeightsError(
            f"The hub's repository {self.name} has no file {name}: "
            + (f"there are {there}." if there else "there is no GGUF file in it at all.")
        )


class Hub:
    """The hub, or whatever stands at the address in HF_ENDPOINT. Every call blocks on the network."""

    def __init__(
        self, endpoint: str | None = None, notice: Callable[[str], None] | None = None
    ) -> None:
        """`notice` hears what is worth telling while one waits."""
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
        """Return what a repository holds now. Raises WeightsError."""
        try:
            info = self._api.model_info(name, files_metadata=True, timeout=timeout)
        except HUB_ERRORS as error:
            raise WeightsError(explained(error, repo=name)) from error
        if not info.sha:
            raise WeightsError(
                f"What answered for {name} is not the hub: check HF_ENDPOINT and the network."
            )
        files = [
            Listed(
                one.rfilename,
                one.size or 0,
                Hash.listed(one.lfs.sha256 if one.lfs else None, one.blob_id),
            )
            for one in info.siblings or []
        ]
        return HubRepository(name, info.sha, {one.name: one for one in files})

    def fetch(
        self,
        repository: HubRepository,
        file: Listed,
        target: Path,
        progress: Progress | None = None,
    ) -> None:
        """Fetch a file to `target`, going on where an earlier attempt broke off; nothing where it is there, whole.

        Waits where another process fetches the same. Raises WeightsError.
        """
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._alone(target):
                if not (target.is_file() and target.stat().st_size == file.size):
                    self._fetch(repository, file, target, progress)
        except HUB_ERRORS as error:
            raise WeightsError(explained(error, repo=repository.name, file=file.name)) from error

    def read(
        self, repo: str, name: str, *, size: int | None = None, timeout: float = 15.0
    ) -> bytes:
        """Return a small file, or the first `size` bytes of a large one. Raises WeightsError."""
        address = huggingface_hub.hf_hub_url(repo, name, endpoint=self._endpoint)
        headers = build_hf_headers() | ({"Range": f"bytes=0-{size - 1}"} if size else {})
        try:
            answer = huggingface_hub.get_session().get(
                address, headers=headers, timeout=timeout, follow_redirects=True
            )
            hf_raise_for_status(answer)
        except HUB_ERRORS as error:
            raise WeightsError(explained(error, repo=repo, file=name)) from error
        return bytes(answer.content)

    @contextlib.contextmanager
    def _alone(self, target: Path) -> Iterator[None]:
        lock = filelock.FileLock(target.with_name(f".{target.name}.lock"))
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            self._notice(f"Another process is fetching {target.name}: waiting for it.")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _fetch(
        self, repository: HubRepository, file: Listed, target: Path, progress: Progress | None
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
            check_room(target.parent, file.size - there, f"hf:{repository.name}/{file.name}")
            self._transfer(repository, file, stream, there, progress)
        if file.hash and not file.hash.fits(part):
            part.unlink()
            raise WeightsError(
                f"What came as hf:{repository.name}/{file.name} is not what the hub promises (its hash is another), so "
                "it was thrown away: try again, and if that doesn't help, look what is between you and the hub."
            )
        part.replace(target)

    def _transfer(
        self,
        repository: HubRepository,
        file: Listed,
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
                stream.truncate(
                    0
                )  # the client's own complaint: what came is of another length than was promised
            raise


def check_room(folder: Path, needed: int, what: str) -> None:
    """Raise WeightsError where `needed` bytes more don't fit onto the disk of `folder`, which exists."""
    free = shutil.disk_usage(folder).free
    if needed > 0 and free < needed + MARGIN:
        raise WeightsError(
            f"{what} needs {needed / 2**30:.1f} GiB, but only {free / 2**30:.1f} GiB are free in {folder}: "
            "make room, or keep the weights elsewhere (`engine.weights` in aside.yaml)."
        )


def _meter(there: int, total: int, progress: Progress | None) -> type[tqdm]:
    """A tqdm class that draws nothing and tells `progress`."""

    class Meter(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})  # type: ignore[no-untyped-call] # tqdm has no types

        def update(self, n: float | None = 1) -> None:
            nonlocal there
            there += int(n or 0)
            if progress:
                progress(there, total)

    return Meter
