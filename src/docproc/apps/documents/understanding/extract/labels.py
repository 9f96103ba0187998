"""The words that point at fields, by document type and field, from the types' files.

DECOYS are the phrases that contain a label but mean something else, so that the longer one wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from docproc.apps.documents.understanding.types import loader
from docproc.apps.documents.understanding.types.document_type import Kind, KnownField
from docproc.apps.documents.understanding.words import read_words

__all__ = ["DECOYS", "Kind", "Labels", "Rule", "known_sums", "rules_of", "sum_of"]

# Phrases by what they are worth.
Labels = tuple[tuple[float, tuple[str, ...]], ...]

DECOYS: tuple[str, ...] = tuple(read_words("decoys"))
# Labels that are the same on every paper.
_OF_KINDS: dict[str, Mapping[float, list[str]]] = read_words("kinds")


@dataclass(frozen=True, slots=True)
class Rule:
    """How a field is looked for; see `KnownField`."""

    kind: Kind
    labels: Labels = ()
    bottom: float = 0.0
    alone: float = -1.0
    block: bool = False


def rules_of(doc_type: str) -> Mapping[str, Rule]:
    """What is known of the type's fields; nothing of a type that only a workflow knows."""
    return _rules(doc_type, loader.version_of(doc_type)) if doc_type in loader.known() else {}


def sum_of(doc_type: str) -> tuple[str, ...]:
    """Three amounts, of which the first two make the third; none for most types."""
    document_type = loader.known().get(doc_type)
    return document_type.sum if document_type else ()


def known_sums() -> frozenset[str]:
    """The fields that are parts of some type's sum."""
    return frozenset(name for one in loader.known().values() for name in one.sum)


@lru_cache(maxsize=64)
def _rules(doc_type: str, _version: str) -> dict[str, Rule]:
    return {name: _rule(field) for name, field in loader.known()[doc_type].fields.items()}


def _rule(field: KnownField) -> Rule:
    assert field.kind is not None  # the loader refuses a field without
    labels = field.labels or _OF_KINDS.get(field.kind, {})
    return Rule(
        field.kind,
        tuple((weight, tuple(phrases)) for weight, phrases in labels.items()),
        field.bottom or 0.0,
        -1.0 if field.alone is None else field.alone,
        bool(field.block),
    )
