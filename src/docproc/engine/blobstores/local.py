"""Blobs in a local folder (or a shared volume): temporary file, fsync, rename."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Self

from docproc.engine import disk
from docproc.engine.blobs import Blob, BlobStore, check_key
from docproc.errors import ConfigurationError, TooLargeError
from docproc.private import FILE_MODE, open_private, private_folder, refuse_planted
from docproc.settings import Settings

_CHUNK = 1024 * 1024
# Unfinished files lie here, on the same file system, so that a rename is enough.
_SCRATCH = ".scratch"


class LocalBlobStore(BlobStore):
    """Where no DOCPROC_STORAGE_URL is set, or one that begins with `file:`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def create(cls, settings: Settings) -> Self:
        root = settings.effective_storage_path
        refuse_planted(root)  # before a process starts, not with its first file
        return cls(root)

    async def put(self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None) -> Blob:
        with self.scratch() as folder:
            path = folder / "blob"
            digest, size = hashlib.sha256(), 0
            with open_private(path, "wb") as file:
                async for chunk in _gathered(chunks):
                    size += len(chunk)
                    if max_bytes is not None and size > max_bytes:
                        raise TooLargeError(
                            f"the file is larger than {max_bytes / 1024**2:g} MB",
                            remedy="Send it in parts, or raise DOCPROC_MAX_UPLOAD_MB",
                        )
                    await asyncio.to_thread(_write, file, digest, chunk)
            await asyncio.to_thread(self._keep, path, key)
        return Blob(key, size, digest.hexdigest())

    async def put_file(self, key: str, path: Path) -> Blob:
        def store() -> Blob:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = path.stat().st_size
            self._keep(path, key)
            return Blob(key, size, digest)

        return await asyncio.to_thread(store)

    async def copy(self, source: str, key: str) -> None:
        def store() -> None:
            with self.scratch() as folder:
                path = folder / "blob"
                try:
                    os.link(self._path(source), path)
                except OSError:  # not every file system links
                    shutil.copyfile(self._path(source), path)
                self._keep(path, key)

        await asyncio.to_thread(store)

    async def fetch(self, key: str) -> Path:
        path = self._path(key)
        if not await asyncio.to_thread(path.is_file):
            raise FileNotFoundError(f"there is no blob {key!r} in {self.root}")
        return path

    async def exists(self, key: str) -> bool:
        return await asyncio.to_thread(self._path(key).is_file)

    async def delete(self, owner: str) -> None:
        await asyncio.to_thread(shutil.rmtree, self._path(owner), ignore_errors=True)

    async def owners(self, *, before: datetime) -> AsyncIterator[str]:
        for owner in await asyncio.to_thread(self._old_owners, before):
            yield owner

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        base = self.root / _SCRATCH
        try:
            private_folder(self.root)
            private_folder(base)
            folder = Path(tempfile.mkdtemp(dir=base))
        except OSError as error:
            if error.errno in disk.FULL:
                raise  # no setting is wrong
            raise ConfigurationError(
                f"files cannot be stored in {self.root}: {error.strerror}",
                remedy="Check DOCPROC_STORAGE_PATH",
            ) from error
        try:
            with _held(folder):
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def sweep_scratch(self, *, before: datetime) -> int:
        return await asyncio.to_thread(self._sweep_scratch, before)

    def _sweep_scratch(self, before: datetime) -> int:
        found = 0
        with suppress(FileNotFoundError):
            for folder in (self.root / _SCRATCH).iterdir():
                with suppress(OSError):  # whoever had it ended meanwhile, or it is somebody else's
                    old = folder.is_dir() and _newest(folder) < before.timestamp()
                    if old and not _is_held(folder):
                        shutil.rmtree(folder, ignore_errors=True)
                        found += 1
        return found

    async def problem(self) -> str | None:
        return "the storage is full" if await asyncio.to_thread(disk.is_full, self.root) else None

    def _path(self, key: str) -> Path:
        return self.root / check_key(key)

    def _keep(self, path: Path, key: str) -> None:
        """Durable first, visible second: after a power cut the key holds all of it or nothing."""
        target = self._path(key)
        is_new = not target.parent.exists()
        private_folder(target.parent)
        with path.open("rb") as file:
            os.fchmod(file.fileno(), FILE_MODE)  # files found inside others were written by many tools
            os.fsync(file.fileno())
        path.replace(target)
        for folder in (target.parent, *target.parent.parents[:2]) if is_new else (target.parent,):
            _sync_folder(folder)

    def _old_owners(self, before: datetime) -> list[str]:
        found = []
        with suppress(FileNotFoundError):
            for folder in self.root.iterdir():
                with suppress(FileNotFoundError):
                    changed = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
                    if changed < before and folder.is_dir() and folder.name != _SCRATCH:
                        found.append(folder.name)
        return found


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Marks it as in use, for as long as this process lives at most."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system locks; then its age alone speaks for it
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def _is_held(folder: Path) -> bool:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _newest(folder: Path) -> float:
    """When something in it was last written: its own time does not change while a file in it grows."""
    return max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))


def _write(file: BinaryIO, digest: hashlib._Hash, chunk: bytes) -> None:
    file.write(chunk)
    digest.update(chunk)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


async def _gathered(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Network crumbs as megabytes: each write is a hop to a thread."""
    gathered = bytearray()
    async for chunk in chunks:
        gathered += chunk
        if len(gathered) >= _CHUNK:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)
