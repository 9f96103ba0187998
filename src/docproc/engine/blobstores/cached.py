"""What blob stores share whose content is no local file: they are read through the cache under home."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

from docproc.engine import disk
from docproc.engine.blobs import BlobStore, check_key
from docproc.engine.blobstores.cache import Cache


class CachedBlobStore(BlobStore):
    """`fetch` asks for the version each time, so an erased blob is gone, and a newer one is seen, at once."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache

    async def fetch(self, key: str) -> Path:
        version = await self.version(check_key(key))
        if version is None:
            raise FileNotFoundError(f"there is no blob {key!r}")
        return await self.cache.fetch(key, version, self.read(key))

    async def forget(self, owner: str) -> None:
        """The copies of an owner on this machine; those on others go by themselves, minutes later."""
        await asyncio.to_thread(self.cache.forget, check_key(owner))

    def scratch(self) -> AbstractContextManager[Path]:
        return self.cache.scratch.folder()

    async def sweep_scratch(self, *, before: datetime) -> int:
        return await asyncio.to_thread(self.cache.sweep, before)

    async def problem(self) -> str | None:
        is_full = await asyncio.to_thread(disk.is_full, self.cache.folder)
        return "the disk of DOCPROC_HOME is full" if is_full else None
