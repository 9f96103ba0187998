"""The trained scorer: weighs what is known of each candidate, by kind and field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy

from docproc.apps.documents.understanding import models
from docproc.apps.documents.understanding.extract import features
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.features import Matrix
from docproc.apps.documents.understanding.extract.score import NOTHING, TEMPERATURE, Scored

Vector = numpy.typing.NDArray[numpy.float64]


@dataclass(frozen=True)
class Weights:
    """For each kind of field a weight by feature and one for "nothing"; for known fields the difference."""

    kinds: dict[str, tuple[Vector, float]]
    fields: dict[str, tuple[Vector, float]]

    def of(self, doc_type: str, name: str, kind: str) -> tuple[Vector, float]:
        weights, nothing = self.kinds.get(kind) or PRIOR
        if (own := self.fields.get(f"{doc_type}.{name}")) is not None:
            return weights + own[0], nothing + own[1]
        # A kind also learns what is peculiar to its known fields: for an unknown one half of it is believed.
        return (weights + PRIOR[0]) / 2, (nothing + PRIOR[1]) / 2


def _prior() -> tuple[Vector, float]:
    weights = numpy.zeros(len(features.NAMES))
    weights[0] = 1 / TEMPERATURE
    return weights, NOTHING / TEMPERATURE


# Where nothing was learnt: what the rules say, at the temperature that suits them.
PRIOR = _prior()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best value, its share of the softmax, the next one's, and what is known of the best."""

    best: Candidate
    share: float
    next: float
    nothing: float
    seen: Vector
    rivals: int


def rank(scored: Sequence[Scored], doc_type: str, name: str, kind: str) -> Ranking | None:
    if not scored:
        return None
    weights, nothing = weights_now().of(doc_type, name, kind)
    seen = features.matrix(scored)
    return ranked(scored, seen, seen @ weights, nothing)


def ranked(scored: Sequence[Scored], seen: Matrix, logits: Vector, nothing: float) -> Ranking:
    """A softmax over the places; a value that several places give has the sum of their shares."""
    top = max(float(logits.max()), nothing)
    shares = numpy.exp(logits - top)
    none = float(numpy.exp(nothing - top))
    total = float(shares.sum()) + none
    values: dict[str, float] = {}
    for each, share in zip(scored, shares, strict=True):
        values[each.candidate.value] = values.get(each.candidate.value, 0.0) + float(share) / total
    order = sorted(values, key=lambda value: -values[value])
    rows = [row for row, each in enumerate(scored) if each.candidate.value == order[0]]
    row = max(rows, key=lambda row: (logits[row], -row))
    runner = values[order[1]] if len(order) > 1 else 0.0
    return Ranking(scored[row].candidate, values[order[0]], runner, none / total, seen[row], len(order))


def weights_now() -> Weights:
    return _weights(models.version("extraction"))


@lru_cache(maxsize=4)
def _weights(trained: models.Version | None) -> Weights:
    return of_arrays(models.arrays("extraction")) if trained else Weights({}, {})


def of_arrays(stored: models.Arrays) -> Weights:
    """Weights by name: those of features this version does not know are left out."""
    column = {str(name): index for index, name in enumerate(stored["features"])}
    known = [column.get(name, -1) for name in features.NAMES]

    def table(which: str) -> dict[str, tuple[Vector, float]]:
        by_key = {}
        for key, row, nothing in zip(
            stored[f"{which}s"], stored[f"{which}_weights"], stored[f"{which}_nothing"], strict=True
        ):
            weights = numpy.array([float(row[index]) if index >= 0 else 0.0 for index in known])
            by_key[str(key)] = (weights, float(nothing))
        return by_key

    return Weights(table("kind"), table("field"))
