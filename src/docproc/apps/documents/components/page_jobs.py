"""What is done with single pages in threads and child processes: reading them, and telling their types.

Components call this for messages, `docproc eval` for files, so what is measured is what runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docproc.apps.documents.understanding import models
from docproc.apps.documents.understanding.boundaries import marks
from docproc.apps.documents.understanding.classify import Classification, classify
from docproc.errors import PermanentError
from docproc.reading import page as page_text
from docproc.reading.page import PageText, pack
from docproc.reading.plain_text import page_of
from docproc.reading.reading import Mode, read_page, trusted_layer, warm_up

# In a page's marks: the probabilities of the types that it may be of, each at least so likely.
LOOKS, _LIKELY = "looks", 0.002
# A page's type, and what it says of itself.
Found = tuple[Classification, dict[str, Any]]
# A page's packed words, its text, the types that its workflow adds.
Wanted = tuple[bytes | None, str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page as the child process hands it over: packed there, so that little travels."""

    text: str
    confidence: float
    rotation: int
    source: str
    words: bytes


@dataclass(frozen=True, slots=True)
class PageToRead:
    """A page to be read."""

    path: Path
    index: int
    engine: str
    mode: Mode


def rehearse(engine: str) -> None:
    """In the child process, before its first page; of this module, so that the child has imported it."""
    warm_up(engine)


def read_layers(places: Sequence[PageToRead | None]) -> list[ReadPage | None]:
    """In the child process: what the text layers say; None for pages that need recognition."""
    return [_layer(place) if place else None for place in places]


def _layer(place: PageToRead) -> ReadPage | None:
    if place.mode == "ocr":
        return None
    try:
        layer = trusted_layer(place.path, place.index)
    except PermanentError:  # said by whoever reads it alone
        return None
    return _reading(layer) if layer is not None else None


def read(place: PageToRead) -> ReadPage:
    """In the child process."""
    return _reading(read_page(place.path, place.index, engine=place.engine, mode=place.mode))


def _reading(page: PageText) -> ReadPage:
    # PostgreSQL's text knows no NUL, which some text layers contain.
    text = page.text.replace("\0", "")
    return ReadPage(text, round(page.confidence, 4), page.rotation, page.source.value, pack(page))


def classify_all(wanted: Sequence[Wanted], weights: Path | None = None) -> list[Found]:
    """Text that came without words (from a component of somebody's own) counts as it is."""
    results = []
    with models.using(weights):
        for words, text, types in wanted:
            page = page_text.unpack(words) if words else page_of(text)
            found, said = classify(page, types or None), marks(page)
            results.append((found, said if "blank" in said else said | {LOOKS: _likely(found)}))
    return results


def _likely(found: Classification) -> dict[str, float]:
    """What the page may be, for whoever looks at its neighbours, too."""
    return {name: round(share, 4) for name, share in found.scores.items() if share >= _LIKELY}
