"""Says what type of document a page belongs to, and how sure that is: evidence weighed by a trained model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import numpy.typing

from docproc.apps.documents.understanding import page_features, rules
from docproc.apps.documents.understanding.models import Arrays, arrays
from docproc.apps.documents.understanding.page_features import Names
from docproc.reading.codes.hint import type_hint
from docproc.reading.page import PageText

OTHER = rules.OTHER
TYPES = rules.TYPES
MODEL = "classifier"
_BLANK_OTHER = 0.8  # a page without words is `other`, but not for sure
_SCALE = 1.3  # hand-written scores are this much wider than logarithms of odds
_NO_KEYWORD = 2.0  # a single phrase of a workflow's type is not enough against `other`
_LEAST_OTHER = math.log(0.003)
_CODE = 7.0  # a code that only one type of document carries …
_PROVEN = 0.99  # … whatever the words say: together the types that carry it have this much at least
# The tax agency's code and an attached invoice are on receipts, too: which of them it is, the page says.
_BESIDE = dict.fromkeys(("invoice", "receipt"), frozenset({"invoice", "receipt"}))

Floats = numpy.typing.NDArray[numpy.float32]


@dataclass(frozen=True, slots=True)
class Classification:
    """A page's type. `scores` are the probabilities of all types and add up to 1."""

    doc_type: str
    confidence: float
    scores: dict[str, float]


@dataclass(frozen=True)
class Weights:
    """One row of `weights` for each of `classes`; the logits are divided by `temperature`."""

    classes: tuple[str, ...]
    names: Names
    columns: dict[str, int]
    weights: Floats
    temperature: float


def classify(
    page: PageText, types: Mapping[str, Sequence[str]] | None = None, *, models: Path | None = None
) -> Classification:
    """The most likely type of a page; `types` adds types by phrases that their pages contain.

    `models` is a folder of weights learnt in this installation; without it the packaged ones count.
    """
    model = _weights(models)
    if not any(sign.isalnum() for word in page.words for sign in word.text):
        kinds = dict.fromkeys((*model.classes, *(types or ())), 0.0)
        return _softmax(kinds | {OTHER: _BLANK_OTHER})
    told = rules.tell(page.text)
    logits = model.weights @ page_features.vector(page, told, model.columns, model.names)
    scores = dict(zip(model.classes, (logits / model.temperature).tolist(), strict=True))
    if hint := type_hint(page.codes, page.text):
        scores[hint] = scores.get(hint, 0.0) + _CODE
        scores = _proven(scores, _BESIDE.get(hint, frozenset({hint})))
    return _softmax(_with_keywords(scores, types or {}, page.text))


def _proven(scores: dict[str, float], types: frozenset[str]) -> dict[str, float]:
    """The same order among `types`; all others together are left what a proof leaves to doubt."""
    others = [score for name, score in scores.items() if name not in types]
    inside = _log_sum(score for name, score in scores.items() if name in types)
    excess = _log_sum(others) - (inside + math.log((1 - _PROVEN) / _PROVEN)) if others else 0.0
    if excess <= 0.0:
        return scores
    return {name: score if name in types else score - excess for name, score in scores.items()}


def _with_keywords(
    scores: dict[str, float], types: Mapping[str, Sequence[str]], text: str
) -> dict[str, float]:
    """A type the model does not know competes with `other`: what it looks like is not known either."""
    if not types:
        return scores
    whole = _log_sum(scores.values())
    unknown = max(scores.get(OTHER, whole + _LEAST_OTHER) - whole, _LEAST_OTHER) + whole
    found = {name: rules.keyword_score(given, text) / _SCALE for name, given in types.items()}
    added = {
        name: scores[name] + score if name in scores else unknown + score - _NO_KEYWORD
        for name, score in found.items()
    }
    return scores | added


def _log_sum(logits: Iterable[float]) -> float:
    values = list(logits)
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))


def _softmax(scores: Mapping[str, float]) -> Classification:
    whole = _log_sum(scores.values())
    likely = {name: math.exp(score - whole) for name, score in scores.items()}
    best = max(likely, key=lambda name: likely[name])
    return Classification(best, likely[best], likely)


def _weights(folder: Path | None) -> Weights:
    found = arrays(MODEL, folder)
    if folder is not None and not _fits(found):
        found = arrays(MODEL)
    known = _KNOWN.get(id(found))
    if known is None or known[0] is not found:
        known = _KNOWN[id(found)] = (found, unpacked(found))
    return known[1]


# By identity of the arrays, which are kept beside so that the identity stays theirs.
_KNOWN: dict[int, tuple[Arrays, Weights]] = {}


def _fits(stored: Arrays) -> bool:
    """Whether they were learnt by a version that saw the same things on a page."""
    return bool(stored["weights"].shape[1] == _names(stored).width)


def _names(stored: Arrays) -> Names:
    return Names(*(tuple(stored[key].tolist()) for key in ("types", "phrases", "words")))


def unpacked(stored: Arrays) -> Weights:
    names = _names(stored)
    return Weights(
        tuple(stored["classes"].tolist()),
        names,
        page_features.columns_of(names),
        stored["weights"].astype(numpy.float32),
        float(stored["temperature"]),
    )


def packed(weights: Weights) -> Arrays:
    """As it is kept: no pickle, half the digits."""
    names = weights.names
    return {
        "classes": numpy.array(weights.classes),
        "types": numpy.array(names.types),
        "phrases": numpy.array(names.phrases),
        "words": numpy.array(names.words),
        "weights": weights.weights.astype(numpy.float16),
        "temperature": numpy.array(weights.temperature),
    }
