"""The contract of a blob store: files by key, durable before anybody is told of them."""

from __future__ import annotations

import asyncio
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from docproc.errors import TooLargeError

if TYPE_CHECKING:
    from docproc.settings import Settings

# How much of a file is in memory at once, more or less.
CHUNK = 1024 * 1024
# What content is called, asked for when all of it was read.
Address = Callable[[], str]

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Blob:
    key: str
    size: int
    sha256: str


class BlobStore(ABC):
    """Files by key. A key is `<owner>/<place>/<name>`; the owner is a request's id.

    What `put` returned is on disk (or in the bucket) for good: a commit may name it. A key that is written
    twice holds the newer content, whole. Nothing here blocks the event loop, and no file is ever in memory
    whole. Any method may raise StorageDownError, which passes, and ConfigurationError, which does not.
    """

    # --- to be implemented ------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def create(cls, settings: Settings) -> Self:
        """As the settings say: `DOCPROC_STORAGE_URL`, whose scheme chose this class, or a local path."""

    @abstractmethod
    async def write(self, key: str, chunks: AsyncIterable[bytes], address: Address | None = None) -> None:
        """Store a stream; what it raises is raised here, and nothing of it is kept then.

        With an `address`, content that lies here under the same one may be shared instead of stored again: it
        is equal, and of the same tenant. A store that cannot count who needs it leaves that alone.
        """

    @abstractmethod
    def read(self, key: str) -> AsyncIterator[bytes]:
        """The content from its beginning; raises FileNotFoundError."""

    @abstractmethod
    async def version(self, key: str) -> str | None:
        """Something that changes whenever the content does; None: nothing lies there."""

    @abstractmethod
    async def fetch(self, key: str) -> Path:
        """A local file with the content, to be read soon and never written; raises FileNotFoundError."""

    @abstractmethod
    async def copy(self, source: str, key: str) -> None:
        """The same content under another key; raises FileNotFoundError."""

    @abstractmethod
    async def delete(self, owner: str) -> None:
        """Remove everything of one owner; what others share with it stays theirs."""

    @abstractmethod
    def owners(self, *, before: datetime) -> AsyncIterator[str]:
        """The owners whose files were all written before that moment: for finding orphans."""

    @abstractmethod
    def scratch(self) -> AbstractContextManager[Path]:
        """A folder for files in the making, gone with the block."""

    async def sweep_scratch(self, *, before: datetime) -> int:
        """Remove what killed processes left in scratch folders before that moment; says how many folders.

        What is in use stays, however old. Nothing to do (the default) where `scratch` leaves nothing behind.
        """
        return 0

    async def check(self) -> None:
        """Before a process starts to work; raises what `write` would, where that is known without trying."""

    async def problem(self) -> str | None:
        """Why nothing can be stored now: for `/ready`."""
        return None

    # --- what follows from it ---------------------------------------------------------------------------

    async def put(
        self,
        key: str,
        chunks: AsyncIterable[bytes],
        *,
        max_bytes: int | None = None,
        tenant: str | None = None,
    ) -> Blob:
        """Store a stream; raises TooLargeError at the first byte too many.

        `tenant` allows it to share what this tenant stored before, and nobody else.
        """
        measured = _Measured(chunks, max_bytes)
        address = None if tenant is None else lambda: self.address(tenant, measured.sha256)
        await self.write(key, measured.chunks(), address)
        return Blob(key, measured.size, measured.sha256)

    async def put_file(self, key: str, path: Path, *, tenant: str | None = None) -> Blob:
        """Store a local file, which is used up by it."""
        blob = await self.put(key, read_file(path), tenant=tenant)
        await asyncio.to_thread(path.unlink)
        return blob

    async def exists(self, key: str) -> bool:
        """Whether something lies under the key."""
        return await self.version(key) is not None

    def address(self, tenant: str, sha256: str) -> str:
        """What content of a tenant is called. The same content of another tenant has nothing in common with
        it: whoever sees the names cannot tell that two tenants have the same file."""
        return hashlib.sha256(f"{tenant}\0{sha256}".encode()).hexdigest()


class _Measured:
    """A stream that is counted and hashed while it passes by."""

    def __init__(self, chunks: AsyncIterable[bytes], max_bytes: int | None) -> None:
        self._chunks = chunks
        self._max_bytes = max_bytes
        self._digest = hashlib.sha256()
        self.size = 0

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in gathered(self._chunks):
            self.size += len(chunk)
            if self._max_bytes is not None and self.size > self._max_bytes:
                raise TooLargeError(
                    f"the file is larger than {self._max_bytes / 1024**2:g} MB",
                    remedy="Send it in parts, or raise DOCPROC_MAX_UPLOAD_MB",
                )
            # Hashed while the store writes it, and before the next piece is looked at.
            hashing = asyncio.get_running_loop().run_in_executor(None, self._digest.update, chunk)
            try:
                yield chunk
            finally:
                await hashing


async def gathered(chunks: AsyncIterable[bytes], size: int = CHUNK) -> AsyncIterator[bytes]:
    """Network crumbs as pieces of at least that size, but for the last: each is a hop to a thread."""
    parts: list[bytes] = []
    length = 0
    async for chunk in chunks:
        parts.append(chunk)
        length += len(chunk)
        if length >= size:
            yield b"".join(parts)
            parts, length = [], 0
    if parts:
        yield b"".join(parts)


async def read_file(path: Path) -> AsyncIterator[bytes]:
    """A local file as a stream; raises FileNotFoundError."""
    file = await asyncio.to_thread(path.open, "rb")
    try:
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
    finally:
        file.close()


def check_key(key: str) -> str:
    """Keys are built by us from ids and safe names; anything else is a mistake, never a path."""
    if len(key) > 255 or not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no blob key")
    return key


def safe_name(name: str) -> str:
    """Something of a foreign file name that people recognise and no file system misreads."""
    last = name.replace("\\", "/").rpartition("/")[2]
    stem, dot, suffix = last.rpartition(".")
    plain = [re.sub(r"[^A-Za-z0-9_-]+", "-", part).strip("-_") for part in (stem if dot else last, suffix)]
    suffix = plain[1][:10] if dot else ""
    return f"{plain[0][:_LONGEST_NAME] or 'file'}{'.' + suffix if suffix else ''}"
