"""Copies of blobs on this machine, for native code that reads files: bounded, and gone soon after use."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Self
from weakref import WeakValueDictionary

from docproc.engine.blobstores.scratch import Scratch
from docproc.private import open_private, private_folder
from docproc.settings import Settings

# A copy that was not used for so long is removed: it may be of a request that another machine erased.
IDLE_SECONDS = 900.0
# A copy that was used just now is kept even where there are too many: somebody is about to open it.
IN_USE_SECONDS = 120.0
# How often a process looks while it fetches, at most, and how often when it does not.
_LOOK_SECONDS = 10.0
_PAUSE_SECONDS = IDLE_SECONDS / 3


class Cache:
    """A folder of copies, `<owner>/<name>`, that all processes of a home share.

    A copy is named after its blob's version, so that content written anew is never taken for the old one. The
    time a file was last changed tells when it was last used.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self.folder = folder
        self.limit_bytes = limit_bytes
        self.scratch = Scratch(folder / ".scratch", "DOCPROC_HOME")
        self._filling: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        self._looked = -_LOOK_SECONDS
        self._loop: asyncio.AbstractEventLoop | None = None

    @classmethod
    def create(cls, settings: Settings) -> Self:
        return cls(settings.cache_path, settings.storage_cache_mb * 1024 * 1024)

    async def fetch(self, key: str, version: str, content: AsyncIterator[bytes]) -> Path:
        """The copy of a blob; `content` is only read where there is none, and must be verified by its end."""
        path = self._path(key, version)
        lock = self._filling.setdefault(path, asyncio.Lock())
        async with lock:  # sixteen pages of one file want it at the same time
            if not await asyncio.to_thread(_touch, path):
                await self._fill(path, content)
        if time.monotonic() - self._looked >= _LOOK_SECONDS:
            self._looked = time.monotonic()
            await asyncio.to_thread(self.shrink)
        self._look_again_later()
        return path

    def _look_again_later(self) -> None:
        """Now and then while the process lives: on a machine with nothing to do nobody else would look."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            loop.call_later(_PAUSE_SECONDS, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.run_in_executor(None, self.shrink)
        loop.call_later(_PAUSE_SECONDS, self._look, loop)

    async def _fill(self, path: Path, content: AsyncIterator[bytes]) -> None:
        """Whole or not at all; of two processes who do it at the same time, the later one's stays."""
        with self.scratch.folder() as folder:
            with open_private(folder / "blob", "wb") as file:
                async for chunk in content:
                    await asyncio.to_thread(file.write, chunk)
            await asyncio.to_thread(_place, folder / "blob", path)

    def forget(self, owner: str) -> None:
        shutil.rmtree(self.folder / owner, ignore_errors=True)

    def sweep(self, before: datetime) -> int:
        """What killed processes left half made, and what nobody used for a while; says how many folders."""
        self.shrink()
        return self.scratch.sweep(before)

    def shrink(self) -> None:
        """Remove what was not used lately, and the oldest of what is too much."""
        now, size = time.time(), 0
        found = sorted(_files(self.folder), reverse=True)  # the latest used first
        for used, path, length in found:
            size += length
            idle = now - used
            if idle > IDLE_SECONDS or (size > self.limit_bytes and idle > IN_USE_SECONDS):
                size -= length
                with suppress(OSError):  # another process was faster, or others lie in the same folder
                    path.unlink()
                    path.parent.rmdir()

    def _path(self, key: str, version: str) -> Path:
        name = hashlib.sha256(f"{key}\0{version}".encode()).hexdigest()[:40]
        return self.folder / key.partition("/")[0] / f"{name}{Path(key).suffix}"


def _files(folder: Path) -> list[tuple[float, Path, int]]:
    found = []
    for path in folder.glob("[!.]*/*"):
        with suppress(FileNotFoundError):
            status = path.stat()
            found.append((status.st_mtime, path, status.st_size))
    return found


def _touch(path: Path) -> bool:
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _place(made: Path, path: Path) -> None:
    while True:
        private_folder(path.parent)
        with suppress(FileNotFoundError):  # another process removed the empty folder in between
            made.replace(path)
            return
