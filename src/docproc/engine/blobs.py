"""The contract of a blob store: files by key, durable before anybody is told of them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from docproc.settings import Settings

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
    twice holds the newer content, whole.
    """

    @classmethod
    @abstractmethod
    def create(cls, settings: Settings) -> Self:
        """As the settings say: `DOCPROC_STORAGE_URL`, whose scheme chose this class, or a local path."""

    @abstractmethod
    async def put(self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None) -> Blob:
        """Store a stream; raises TooLargeError at the first byte too many."""

    @abstractmethod
    async def put_file(self, key: str, path: Path) -> Blob:
        """Store a local file, which is used up by it."""

    @abstractmethod
    async def copy(self, source: str, key: str) -> None:
        """The same content under another key."""

    @abstractmethod
    async def fetch(self, key: str) -> Path:
        """A local file with the content, to be read only; raises FileNotFoundError."""

    @abstractmethod
    async def exists(self, key: str) -> bool:
        """Whether something lies under the key."""

    @abstractmethod
    async def delete(self, owner: str) -> None:
        """Remove everything of one owner."""

    @abstractmethod
    def owners(self, *, before: datetime) -> AsyncIterator[str]:
        """The owners whose files were all written before that moment: for finding orphans."""

    async def sweep_scratch(self, *, before: datetime) -> int:
        """Remove what killed processes left in scratch folders before that moment; says how many folders.

        What is in use stays, however old. Nothing to do (the default) where `scratch` leaves nothing behind.
        """
        return 0

    async def problem(self) -> str | None:
        """Why nothing can be stored now, where that is known without trying."""
        return None

    @abstractmethod
    def scratch(self) -> AbstractContextManager[Path]:
        """A folder for files in the making, gone with the block."""


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
