"""Says what type of document a page belongs to, and how sure that is: evidence weighed by a trained model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy
import numpy.typing

from docproc.apps.documents.understanding import page_doubt, page_evidence, page_features
from docproc.apps.documents.understanding.models import PACKAGED, Arrays, arrays
from docproc.apps.documents.understanding.page_features import Names
from docproc.apps.documents.understanding.types import loader
from docproc.apps.documents.understanding.types.document_type import Evidence
from docproc.reading.codes.hint import type_hint
from docproc.reading.page import PageText

OTHER = page_evidence.OTHER
TYPES = page_evidence.TYPES
MODEL = "classifier"
# The logit of `other` for a page without words, where all others are 0: `other`, with low confidence.
_BLANK_OTHER = 0.8
# Hand-written scores are divided by this to become logits (log-odds), as the model gives them.
_SCALE = 1.3
# Subtracted from the logit of a type that only a workflow knows, so that one matching phrase does not yet win
# against `other`.
_NO_KEYWORD = 2.0
# Such types compete with `other`, whose log-probability counts as this much at least.
_LEAST_OTHER = math.log(0.003)
# Added to the logit of the type that a code on the page (QR, attached invoice, machine-readable zone) proves.
_CODE = 7.0
# Whatever the words say, the types that carry such a code have together at least this probability.
_PROVEN = 0.99

Floats = numpy.typing.NDArray[numpy.float32]


@dataclass(frozen=True, slots=True)
class Classification:
    """A page's type. `scores` are the probabilities of all types and add up to 1."""

    doc_type: str
    confidence: float
    scores: dict[str, float]


@dataclass(frozen=True)
class Weights:
    """One row of `weights` for each of `classes`; the logits are divided by `temperature`.

    `doubt` says how much a page that is unlike those trained on takes away (`page_doubt.py`).
    """

    classes: tuple[str, ...]
    names: Names
    columns: dict[str, int]
    weights: Floats
    temperature: float
    doubt: Floats


def classify(page: PageText, types: Mapping[str, Sequence[str] | Evidence] | None = None) -> Classification:
    """The most likely type of a page; `types` adds types by phrases that their pages contain, or by all that
    speaks for them.
    """
    model = _weights()
    if not any(sign.isalnum() for word in page.words for sign in word.text):
        kinds = dict.fromkeys((*model.classes, *(types or ())), 0.0)
        return _softmax(kinds | {OTHER: _BLANK_OTHER})
    told = page_evidence.tell(page.text)
    logits = model.weights @ page_features.vector(page, told, model.columns, model.names)
    alone = _softmax(dict(zip(model.classes, (logits / model.temperature).tolist(), strict=True)))
    scores = {name: math.log(share) for name, share in doubted(model, alone.scores, told).items()}
    if hint := type_hint(page.codes, page.text):
        scores[hint] = scores.get(hint, 0.0) + _CODE
        scores = _proven(scores, _carriers(hint))
    return _softmax(_with_keywords(scores, types or {}, page.text))


def doubted(model: Weights, likely: Mapping[str, float], told: page_evidence.Told) -> dict[str, float]:
    """The probabilities of the types, less sure the less the page is like those that were trained on."""
    known = page_doubt.long_words([word for word in told.vocabulary if word in model.columns])
    said = page_doubt.long_words(told.vocabulary)
    seen = page_doubt.signs(likely, told.titles, told.scores, known, said)
    return page_doubt.mixed(likely, page_doubt.share(model.doubt, seen))


def _carriers(doc_type: str) -> frozenset[str]:
    """The types whose pages carry the codes of this one."""
    known = loader.shipped().get(doc_type)
    return frozenset({doc_type, *(known.codes_shared_with if known else ())})


def _proven(scores: dict[str, float], types: frozenset[str]) -> dict[str, float]:
    """Logits by which `types` together have at least the probability `_PROVEN`.

    The logits of `types` stay; those of all others are lowered by one amount, which keeps their order.
    """
    others = [score for name, score in scores.items() if name not in types]
    inside = _log_sum(score for name, score in scores.items() if name in types)
    excess = _log_sum(others) - (inside + math.log((1 - _PROVEN) / _PROVEN)) if others else 0.0
    if excess <= 0.0:
        return scores
    return {name: score if name in types else score - excess for name, score in scores.items()}


def _with_keywords(
    scores: dict[str, float], types: Mapping[str, Sequence[str] | Evidence], text: str
) -> dict[str, float]:
    """A type the model does not know competes with `other`: what it looks like is not known either."""
    if not types:
        return scores
    whole = _log_sum(scores.values())
    unknown = max(scores.get(OTHER, whole + _LEAST_OTHER) - whole, _LEAST_OTHER) + whole
    by_keywords = {name: page_evidence.keyword_score(given, text) / _SCALE for name, given in types.items()}
    added = {
        name: scores[name] + score if name in scores else unknown + score - _NO_KEYWORD
        for name, score in by_keywords.items()
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


def _weights() -> Weights:
    """Those in use (`models.using`); those of another version are passed over."""
    learnt = arrays(MODEL)
    known = _KNOWN.get(id(learnt))
    if known is None or known[0] is not learnt:
        usable = learnt if _fits(learnt) else arrays(MODEL, PACKAGED)
        known = _KNOWN[id(learnt)] = (learnt, unpacked(usable))
    return known[1]


# Unpacked weights by `id()` of the arrays they come from. The arrays are kept in the value: were they freed,
# another object could get the same id.
_KNOWN: dict[int, tuple[Arrays, Weights]] = {}


def _fits(stored: Arrays) -> bool:
    """Whether they were learnt by a version that saw the same things on a page."""
    is_doubted = "doubt" in stored and len(stored["doubt"]) == page_doubt.WIDTH
    return is_doubted and bool(stored["weights"].shape[1] == _names(stored).width)


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
        stored["doubt"].astype(numpy.float32),
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
        "doubt": weights.doubt.astype(numpy.float32),
    }
