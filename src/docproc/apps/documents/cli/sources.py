"""Which files a command is about: files as named, folders with all that lies in them, standard input."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from docproc.errors import UsageError

STANDARD_INPUT = "-"
# What `docproc samples` writes beside the documents.
NO_DOCUMENTS = frozenset({"labels.jsonl"})


@dataclass(frozen=True, slots=True)
class Source:
    """A file to process; `path` None is standard input."""

    path: Path | None
    name: str

    def open(self) -> IO[bytes]:
        """To be closed by the caller; standard input is read once, as it comes."""
        if self.path is None:
            return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
        return self.path.open("rb")


@dataclass(frozen=True, slots=True)
class Batch:
    """The files of one request."""

    name: str
    sources: tuple[Source, ...]


def batches(given: Sequence[str], *, together: bool) -> list[Batch]:
    """One request per file, or one of all; raises UsageError for what cannot be read."""
    sources = list(collect(given))
    if not together:
        return [Batch(source.name, (source,)) for source in sources]
    folder = Path(given[0]).resolve().name if len(given) == 1 and Path(given[0]).is_dir() else ""
    return [Batch(folder or sources[0].name, tuple(sources))]


def collect(given: Sequence[str]) -> Iterator[Source]:
    """The files of what was named, as given; those of a folder in natural order, hidden ones left out."""
    if given.count(STANDARD_INPUT) > 1:
        raise UsageError("standard input can be read once only", remedy="Name - once")
    for name in given:
        path = Path(name)
        if name == STANDARD_INPUT:
            yield Source(None, "stdin")
        elif path.is_dir():
            yield from _in_folder(path)
        elif path.is_file():
            yield _readable(path)
        else:
            problem = "is no file or folder" if path.exists() else "does not exist"
            raise UsageError(f"{name} {problem}", remedy="Check the path")


def _in_folder(folder: Path) -> list[Source]:
    readable = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        paths = (Path(parent, name) for name in files if not _is_hidden(name) and name not in NO_DOCUMENTS)
        readable += [path for path in paths if path.is_file()]
    if not readable:
        raise UsageError(f"there is no file in {folder}", remedy="Name a folder with documents")
    return [_readable(path) for path in sorted(readable, key=_natural)]


def _readable(path: Path) -> Source:
    if not os.access(path, os.R_OK):
        raise UsageError(f"{path} may not be read", remedy="Check its permissions")
    return Source(path, path.name)


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _natural(path: Path) -> list[list[tuple[int, int | str]]]:
    """`page-2` before `page-10`, whatever the case of letters."""
    pieces = (re.split(r"(\d+)", part.casefold()) for part in path.parts)
    return [[(0, int(p)) if p.isdecimal() else (1, p) for p in part if p] for part in pieces]


def parse_metadata(text: str, password: str | None = None) -> dict[str, Any]:
    """The `--metadata` of a command; a password travels with it and is not kept."""
    remedy = """Write it as --metadata '{"project": "…"}'"""
    try:
        metadata = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"the metadata is not JSON: {error}", remedy=remedy) from error
    if not isinstance(metadata, dict):
        raise UsageError("the metadata is JSON, but not an object", remedy=remedy)
    if not isinstance(metadata.get("password", ""), str):
        raise UsageError("the metadata's password is not text", remedy="Use --password")
    return {**metadata, "password": password} if password is not None else metadata
