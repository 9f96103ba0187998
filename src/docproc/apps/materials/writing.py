"""Writing by the author that the settings name: with a model, or offline in a child process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from docproc.apps.materials.author import Author
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.content.summary import Summary

Offload = Callable[..., Awaitable[Any]]


# Summary, quiz and check read the same text, one right after the other. The last few are kept in memory, if
# they are of ordinary length: a long book takes seconds of work anyway, and memory is to stay flat.
_KEPT = 8
_KEPT_BYTES = 256 * 1024


def load_source(path: Path) -> SourceText:
    """Blocking. The text is frozen, so all who read it may have the same one."""
    file = path.stat()
    if file.st_size > _KEPT_BYTES:
        return SourceText.model_validate_json(path.read_bytes())
    return _kept(path, file.st_ino, file.st_mtime_ns, file.st_size)


@lru_cache(maxsize=_KEPT)
def _kept(path: Path, _inode: int, _changed: int, _size: int) -> SourceText:
    """By all that changes with the file: one that was written anew is read anew."""
    return SourceText.model_validate_json(path.read_bytes())


class ModelWriter:
    """An author that waits for a model more than it computes: it stays in this process."""

    def __init__(self, author: Author) -> None:
        self.author = author

    async def summarise(self, path: Path, language: str) -> Summary:
        source = await asyncio.to_thread(load_source, path)
        return await self.author.summarise(source, language=language)

    async def examine(self, path: Path, summary: Summary, language: str, questions: int) -> Quiz:
        source = await asyncio.to_thread(load_source, path)
        return await self.author.examine(source, summary, language=language, questions=questions)


class OfflineWriter:
    """The extractive author, away from the event loop: a long book keeps a core busy for seconds."""

    def __init__(self, offload: Offload) -> None:
        self.offload = offload

    async def summarise(self, path: Path, language: str) -> Summary:
        written: Summary = await self.offload(_summarise, path, language)
        return written

    async def examine(self, path: Path, summary: Summary, language: str, questions: int) -> Quiz:
        written: Quiz = await self.offload(_examine, path, summary, language, questions)
        return written


def _summarise(path: Path, language: str) -> Summary:
    """In the child process."""
    from docproc.apps.materials.authors.extractive.author import ExtractiveAuthor

    return asyncio.run(ExtractiveAuthor().summarise(load_source(path), language=language))


def _examine(path: Path, summary: Summary, language: str, questions: int) -> Quiz:
    from docproc.apps.materials.authors.extractive.author import ExtractiveAuthor

    author = ExtractiveAuthor()
    return asyncio.run(author.examine(load_source(path), summary, language=language, questions=questions))
