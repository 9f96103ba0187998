"""The words of unfolding: what was found, what may be found at most, and what a container offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may cost. They hold for the whole call, however deep the files are packed."""

    pages: int = 2000
    page_pixels: int = 100_000_000  # of one image page, before decoding
    unpacked_bytes: int = 2 * 1024**3
    ratio: int = 200  # what unpacks to more than this times its packed size (above 10 MB) is a bomb
    members: int = 1000
    depth: int = 3  # containers on the way to a file, the outermost included
    convert_seconds: float = 60  # LibreOffice


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with pages, or (`problem`) one inside a container that cannot be read."""

    name: str  # for people: the path inside the container, e.g. "docs.zip/facturas/enero.pdf"
    path: Path  # the local file that holds the pages: the original or one written into the work folder
    media_type: str
    page_count: int  # 0 when problem is set
    notes: tuple[str, ...] = ()
    problem: str | None = None  # why it cannot be read, in a sentence with a remedy
    skipped: bool = False  # not a document kind at all; problem says so


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of one readable file, and where they are: a repaired or decrypted copy stands elsewhere."""

    path: Path
    count: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a container: bytes that can be saved, or a mail attached as it is."""

    name: str
    save: Callable[[Path, int], None] | None = None  # given where to, and how many bytes there is room for
    inside: Callable[[], Iterator[Member]] | None = None
    decoration_below: int = 0  # a picture with a side shorter than this is part of a mail's layout
