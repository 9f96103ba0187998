"""Encryption at rest, around any blob store: what lies there is of use to nobody without the key."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from datetime import datetime
from typing import Self

from docproc.engine.blobs import Address, BlobStore
from docproc.engine.blobstores.cache import Cache
from docproc.engine.blobstores.cached import CachedBlobStore
from docproc.engine.blobstores.sealing import Keyring, keyring_of
from docproc.errors import ConfigurationError
from docproc.settings import Settings


class EncryptedBlobStore(CachedBlobStore):
    """Seals what is written, opens what is read. Readable copies are only in the cache and in scratch
    folders, on the machine that works on them, under its home."""

    def __init__(self, inner: BlobStore, keys: Keyring, cache: Cache) -> None:
        super().__init__(cache)
        self.inner = inner
        self.keys = keys

    @classmethod
    def create(cls, settings: Settings) -> Self:
        raise ConfigurationError(
            "DOCPROC_STORAGE_URL cannot begin with `encrypted:`",
            remedy="Say where files are stored, and set DOCPROC_STORAGE_KEY",
        )

    @classmethod
    def around(cls, inner: BlobStore, settings: Settings) -> Self:
        """With the keys of the settings; raises ConfigurationError."""
        return cls(inner, keyring_of(settings), Cache.create(settings))

    async def write(self, key: str, chunks: AsyncIterable[bytes], address: Address | None = None) -> None:
        await self.inner.write(key, self.keys.seal(chunks), address)

    def read(self, key: str) -> AsyncIterator[bytes]:
        return self.keys.open(self.inner.read(key))

    def address(self, tenant: str, sha256: str) -> str:
        return self.keys.address(tenant, sha256)

    async def version(self, key: str) -> str | None:
        return await self.inner.version(key)

    async def copy(self, source: str, key: str) -> None:
        await self.inner.copy(source, key)

    async def delete(self, owner: str) -> None:
        await self.forget(owner)
        await self.inner.delete(owner)

    def owners(self, *, before: datetime) -> AsyncIterator[str]:
        return self.inner.owners(before=before)

    async def sweep_scratch(self, *, before: datetime) -> int:
        return await super().sweep_scratch(before=before) + await self.inner.sweep_scratch(before=before)

    async def check(self) -> None:
        await self.inner.check()

    async def problem(self) -> str | None:
        return await super().problem() or await self.inner.problem()
