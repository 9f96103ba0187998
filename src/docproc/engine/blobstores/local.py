"""Blobs in a local folder (or a shared volume): temporary file, fsync, rename; equal content is stored once.

<owner>/in/0-scan.pdf    a blob by its key: one name of a file that others may share
.content/                which content lies where (contents.py)
.scratch/                files in the making
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from docproc.engine import disk
from docproc.engine.blobs import Address, Blob, BlobStore, check_key, read_file
from docproc.engine.blobstores.contents import Contents
from docproc.engine.blobstores.scratch import Scratch
from docproc.private import FILE_MODE, open_private, private_folder, refuse_planted
from docproc.settings import Settings

_SCRATCH = ".scratch"
_CONTENT = ".content"


class LocalBlobStore(BlobStore):
    """Where no DOCPROC_STORAGE_URL is set, or one that begins with `file:`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._scratch = Scratch(root / _SCRATCH, "DOCPROC_STORAGE_PATH")
        self._contents = Contents(root, root / _CONTENT)

    @classmethod
    def create(cls, settings: Settings) -> Self:
        root = settings.effective_storage_path
        refuse_planted(root)  # before a process starts, not with its first file
        return cls(root)

    async def write(self, key: str, chunks: AsyncIterable[bytes], address: Address | None = None) -> None:
        with self.scratch() as folder:
            path = folder / "blob"
            with open_private(path, "wb") as file:
                async for chunk in chunks:
                    await asyncio.to_thread(file.write, chunk)
            await asyncio.to_thread(self._keep, path, key, address() if address else None)

    async def put_file(self, key: str, path: Path, *, tenant: str | None = None) -> Blob:
        def store() -> Blob:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = path.stat().st_size
            self._keep(path, key, None if tenant is None else self.address(tenant, digest))
            return Blob(key, size, digest)

        return await asyncio.to_thread(store)

    async def read(self, key: str) -> AsyncIterator[bytes]:
        async for chunk in read_file(await self.fetch(key)):
            yield chunk

    async def version(self, key: str) -> str | None:
        def look() -> str | None:
            with suppress(FileNotFoundError, NotADirectoryError):
                found = self._path(key).stat()
                return f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}"
            return None

        return await asyncio.to_thread(look)

    async def fetch(self, key: str) -> Path:
        path = self._path(key)
        if not await asyncio.to_thread(path.is_file):
            raise FileNotFoundError(f"there is no blob {key!r} in {self.root}")
        return path

    async def copy(self, source: str, key: str) -> None:
        def store() -> None:
            with self.scratch() as folder:
                path, found = folder / "blob", self._path(source)
                try:
                    os.link(found, path)
                except FileNotFoundError:
                    raise
                except OSError:  # not every file system links
                    shutil.copyfile(found, path)
                self._keep(path, key)

        await asyncio.to_thread(store)

    async def delete(self, owner: str) -> None:
        await asyncio.to_thread(shutil.rmtree, self._path(owner), ignore_errors=True)

    async def owners(self, *, before: datetime) -> AsyncIterator[str]:
        for owner in await asyncio.to_thread(self._old_owners, before):
            yield owner

    def scratch(self) -> AbstractContextManager[Path]:
        return self._scratch.folder()

    async def sweep_scratch(self, *, before: datetime) -> int:
        def sweep() -> int:
            folders = self._scratch.sweep(before)
            self._contents.sweep()
            return folders

        return await asyncio.to_thread(sweep)

    async def problem(self) -> str | None:
        return "the storage is full" if await asyncio.to_thread(disk.is_full, self.root) else None

    def _path(self, key: str) -> Path:
        return self.root / check_key(key)

    def _keep(self, path: Path, key: str, address: str | None = None) -> None:
        """Durable first, visible second: after a power cut the key holds all of it or nothing."""
        target = self._path(key)
        is_new = not target.parent.exists()
        private_folder(target.parent)
        with path.open("rb") as file:
            os.fchmod(file.fileno(), FILE_MODE)  # files found inside others were written by many tools
            os.fsync(file.fileno())
        if address is None:
            path.replace(target)
        else:
            self._share(path, target, address, key.partition("/")[0])
        for folder in (target.parent, *target.parent.parents[:2]) if is_new else (target.parent,):
            _sync_folder(folder)

    def _share(self, path: Path, target: Path, address: str, owner: str) -> None:
        with self._contents.locked(address):
            found = self._contents.find(path, address)
            (found or path).replace(target)
            self._contents.remember(target, address, owner)
        if found:
            path.unlink()

    def _old_owners(self, before: datetime) -> list[str]:
        found = []
        with suppress(FileNotFoundError):
            for folder in self.root.iterdir():
                with suppress(FileNotFoundError):
                    changed = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
                    if changed < before and folder.is_dir() and not folder.name.startswith("."):
                        found.append(folder.name)
        return found


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
