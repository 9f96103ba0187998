"""Fits the scorer of fields: weights by kind and by field, from documents with their right values."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from docproc.apps.documents.quality import matching
from docproc.apps.documents.understanding.extract import calibrate, features, scorer
from docproc.apps.documents.understanding.extract.features import Matrix
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.apps.documents.understanding.extract.scorer import Vector
from docproc.apps.documents.understanding.extract.search import Search
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldType
from docproc.reading.page import PageText

FOLDS = 5
_STEPS = 250
_RATE = 0.04
_TO_PRIOR = 0.005  # L2 penalty on how far a kind's weights leave the prior, which is the hand-written rules …
_TO_KIND = 0.015  # … and on how far a field's weights leave those of its kind
_CAUTION = 8.0  # factor of both penalties for kinds without any real page among the examples
# Weight of an example whose right value is not among its candidates: it only teaches to choose "nothing".
_UNFOUND = 0.5
REAL = 3.0  # weight of an example from a real page; one from a generated page has 1


@dataclass(frozen=True)
class KnownDocument:
    """A document with its pages and right values; those of one `group` are learnt or held out together."""

    doc_type: str
    fields: dict[str, str]
    pages: tuple[PageText, ...]
    group: str
    real: bool


@dataclass(frozen=True)
class FieldExample:
    """One field of one document: the candidates as the scorer sees them, and which are right."""

    doc_type: str
    name: str
    kind: str
    scored: Sequence[Scored]
    seen: Matrix
    right: Vector
    group: str
    weight: float

    @property
    def field(self) -> str:
        return f"{self.doc_type}.{self.name}"


Chosen = tuple[FieldExample, scorer.Ranking, bool]


def examples(documents: Iterable[KnownDocument]) -> Iterator[FieldExample]:
    for document in documents:
        specs = tuple(FieldSpec(name, _type(name, value)) for name, value in document.fields.items())
        search = Search.of(document.doc_type, specs, document.pages)
        for spec in specs:
            if spec.name in search.hook.composed:
                continue
            scored = search.candidates(spec)
            if not scored:
                continue
            how = matching.kind_of(spec.name, spec.type)
            truth = document.fields[spec.name]
            right = numpy.array([float(matching.same(how, truth, each.candidate.value)) for each in scored])
            weight = (REAL if document.real else 1.0) * (1.0 if right.any() else _UNFOUND)
            kind = search.rules[spec.name].kind
            yield FieldExample(
                document.doc_type,
                spec.name,
                kind,
                scored,
                features.matrix(scored),
                right,
                document.group,
                weight,
            )


def _type(name: str, value: str) -> FieldType:
    return matching.type_of(name, [value])


def fit(known: Sequence[FieldExample], start: scorer.Weights | None = None) -> scorer.Weights:
    """Weights by kind, near what the rules say, and by field, near their kind's; with `start` near those."""
    kinds, fields = (dict(start.kinds), dict(start.fields)) if start else ({}, {})
    for kind in sorted({each.kind for each in known}):
        own = [each for each in known if each.kind == kind]
        weights, more = _fit_kind(own, start or scorer.Weights({}, {}))
        kinds[kind] = weights
        fields |= more
    return scorer.Weights(kinds, fields)


def _fit_kind(
    known: Sequence[FieldExample], start: scorer.Weights
) -> tuple[tuple[Vector, float], dict[str, tuple[Vector, float]]]:
    """Softmax regression over an example's candidates and "nothing", fitted by Adam on the full batch."""
    names = sorted({each.field for each in known})
    known = sorted(known, key=lambda each: each.field)
    stacked, starts, right, which, weight = _stacked(known, names)
    begins = numpy.searchsorted(which, numpy.arange(len(names)))
    weight_of_row = numpy.repeat(weight, _sizes(starts, len(stacked)))
    prior = numpy.append(*(start.kinds.get(known[0].kind) or scorer.PRIOR))
    shape = (len(names) + 1, stacked.shape[1])
    own_prior = numpy.zeros((len(names), shape[1]))
    for row, name in enumerate(names):
        if name in start.fields:
            own_prior[row] = numpy.append(*start.fields[name])
    offsets = numpy.zeros(shape)  # row 0: the kind's, from the prior; the others: each field's, from its kind
    first, second = numpy.zeros(shape), numpy.zeros(shape)
    total = weight.sum()
    # The rules were written by people who saw real pages: generated ones alone may move weights but a little.
    caution = 1.0 if any(each.weight > 1 for each in known) else _CAUTION
    for step in range(1, _STEPS + 1):
        weights = prior + offsets[0] + own_prior + offsets[1:]
        logits = numpy.einsum("ij,ij->i", stacked, weights[which])
        pull = _gradient(logits, starts, right) * weight_of_row
        by_field = numpy.add.reduceat(stacked * pull[:, None], begins)
        gradient = numpy.vstack([by_field.sum(axis=0), by_field]) / total
        gradient[0] += caution * _TO_PRIOR * offsets[0]
        gradient[1:] += caution * _TO_KIND * offsets[1:]
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        offsets -= _RATE * (first / (1 - 0.9**step)) / (numpy.sqrt(second / (1 - 0.999**step)) + 1e-8)
    weights = prior + offsets[0]
    differ = own_prior + offsets[1:]
    own = {name: (differ[row][:-1], float(differ[row][-1])) for row, name in enumerate(names)}
    return (weights[:-1], float(weights[-1])), own


def _stacked(
    known: Sequence[FieldExample], names: Sequence[str]
) -> tuple[Matrix, numpy.typing.NDArray[numpy.int64], Vector, numpy.typing.NDArray[numpy.int64], Vector]:
    """The candidates of all examples in one matrix.

    After those of each example comes a row for "nothing": zero but for a last column of its own, the bias.
    """
    rows, right, which, starts, at = [], [], [], [], 0
    for each in known:
        count, width = each.seen.shape
        block = numpy.zeros((count + 1, width + 1))
        block[:count, :width] = each.seen
        block[count, width] = 1.0
        rows.append(block)
        right.append(numpy.append(each.right, 0.0 if each.right.any() else 1.0))
        which.extend([names.index(each.field)] * (count + 1))
        starts.append(at)
        at += count + 1
    weight = numpy.array([each.weight for each in known])
    return numpy.vstack(rows), numpy.array(starts), numpy.concatenate(right), numpy.array(which), weight


def _sizes(starts: numpy.typing.NDArray[numpy.int64], total: int) -> numpy.typing.NDArray[numpy.int64]:
    return numpy.diff(numpy.append(starts, total))


def _gradient(logits: Vector, starts: numpy.typing.NDArray[numpy.int64], right: Vector) -> Vector:
    """Of the negative log-likelihood that one of the right candidates is chosen, by candidate's logit."""
    sizes = _sizes(starts, len(logits))
    top = numpy.repeat(numpy.maximum.reduceat(logits, starts), sizes)
    raised = numpy.exp(logits - top)
    every = numpy.repeat(numpy.add.reduceat(raised, starts), sizes)
    good = numpy.repeat(numpy.maximum(numpy.add.reduceat(raised * right, starts), 1e-12), sizes)
    gradient: Vector = raised / every - raised * right / good
    return gradient


def chosen(each: FieldExample, weights: scorer.Weights) -> Chosen:
    """What the scorer would choose with these weights, and whether that is right."""
    own, nothing = weights.of(each.doc_type, each.name, each.kind)
    ranking = scorer.ranked(each.scored, each.seen, each.seen @ own, nothing)
    values = {one.candidate.value for one, right in zip(each.scored, each.right, strict=True) if right}
    return each, ranking, ranking.best.value in values


def fold_of(group: str) -> int:
    return zlib.crc32(group.encode()) % FOLDS


def arrays(
    weights: scorer.Weights, calibration: dict[str, Vector]
) -> dict[str, numpy.typing.NDArray[numpy.generic]]:
    """As they are stored."""
    kinds, fields = sorted(weights.kinds), sorted(weights.fields)
    return {
        "features": numpy.array(features.NAMES),
        "kinds": numpy.array(kinds),
        "kind_weights": numpy.array([weights.kinds[kind][0] for kind in kinds], dtype=numpy.float32),
        "kind_nothing": numpy.array([weights.kinds[kind][1] for kind in kinds], dtype=numpy.float32),
        "fields": numpy.array(fields),
        "field_weights": numpy.array([weights.fields[name][0] for name in fields], dtype=numpy.float32),
        "field_nothing": numpy.array([weights.fields[name][1] for name in fields], dtype=numpy.float32),
        "signals": numpy.array(calibrate.SIGNALS),
        "calibration_kinds": numpy.array(sorted(calibration)),
        "calibration": numpy.array([calibration[kind] for kind in sorted(calibration)], dtype=numpy.float32),
    }


def write(path: Path, weights: scorer.Weights, calibration: dict[str, Vector]) -> None:
    numpy.savez_compressed(path, **arrays(weights, calibration))  # type: ignore[arg-type]  # numpy's stub
