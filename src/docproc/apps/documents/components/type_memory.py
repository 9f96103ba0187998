"""What people said of the types of pages, remembered by issuer: nobody is asked the same twice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from docproc.apps.documents.components.page_jobs import LOOKS, Found
from docproc.apps.documents.store.corrections import Memory
from docproc.apps.documents.understanding import memory
from docproc.apps.documents.understanding.classify import Classification
from docproc.apps.documents.understanding.memory.fingerprints import same_owner
from docproc.reading import page as page_text

# A page of the same issuer that looks so much like one whose type a person gave is of that type …
_LIKE, _SAME_OWNER = 0.6, 0.5
# … and this sure: an issuer may have two papers on one letterhead.
_SURE = 0.95

# The type and the packed example of an earlier page or document.
Told = tuple[str, bytes]


def lesson(words: bytes, at: datetime) -> Memory:
    """What a page whose type a person gave teaches."""
    layout = memory.fingerprint([page_text.unpack(words)])
    return Memory(memory.pack(memory.Example(layout, (), at.timestamp())), memory.keys(layout))


def remembered(pages: Sequence[tuple[bytes, Sequence[Told]]]) -> list[str | None]:
    """For each page the type that people gave what looks like it, the latest word of equally close ones."""
    return [_remembered(words, told) if told else None for words, told in pages]


def _remembered(words: bytes, told: Sequence[Told]) -> str | None:
    layout = memory.fingerprint([page_text.unpack(words)])
    best: tuple[float, float, str] | None = None
    for doc_type, packed in told:
        example = memory.unpack(packed)
        like = memory.similarity(example.layout, layout)
        if like >= _LIKE and same_owner(example.layout, layout, like) >= _SAME_OWNER:
            best = max(best or (0.0, 0.0, ""), (round(like, 1), example.order, doc_type))
    return best[2] if best else None


def as_remembered(found: Found, doc_type: str) -> Found:
    """The page with the type that people gave its like."""
    scores = {name: share * (1 - _SURE) for name, share in found[0].scores.items() if name != doc_type}
    scores = {doc_type: _SURE, **scores}
    return Classification(doc_type, _SURE, scores), {**found[1], LOOKS: {doc_type: _SURE}}
