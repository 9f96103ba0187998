"""How likely a chosen value is right, fitted on documents that the scorer had not seen."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy

from docproc.apps.documents.understanding import models
from docproc.apps.documents.understanding.extract import features

if TYPE_CHECKING:
    from docproc.apps.documents.understanding.extract.scorer import Ranking, Vector

SIGNALS = ("bias", "odds", "margin", "doubt", "places", "labelled", "sum", "checked", "rivals", "behind")
_DOUBT = features.NAMES.index("doubt")
_CEILING = 0.995
_FLOOR = 0.005


def signals(ranking: Ranking) -> Vector:
    """What speaks for and against the choice as a whole."""
    share = min(max(ranking.share, 1e-4), 1 - 1e-4)
    seen = dict(zip(features.NAMES, ranking.seen, strict=True))
    return numpy.array([
        1.0, math.log(share / (1 - share)), ranking.share - max(ranking.next, ranking.nothing), seen["doubt"],
        min(seen["places"], 2.0), seen["labelled"], seen["sum"], seen["checked"], math.log(ranking.rivals),
        min(seen["behind"], 0.0),
    ])  # fmt: skip


def confidence(ranking: Ranking, doc_type: str, name: str, kind: str) -> float:
    # A value is never surer than the reading of its words.
    legible = math.sqrt(1 - float(ranking.seen[_DOUBT]))
    fitted = _fitted(models.version("extraction"))
    if fitted is None:
        return min(_CEILING, legible * ranking.share)
    return min(legible, probability(signals(ranking), fitted.get(kind, fitted[""])))


def probability(seen: Vector, weights: Vector) -> float:
    odds = float(seen @ weights)
    return min(_CEILING, max(_FLOOR, 1 / (1 + math.exp(-max(min(odds, 30.0), -30.0)))))


@lru_cache(maxsize=4)
def _fitted(trained: models.Version | None) -> dict[str, Vector] | None:
    if not trained:
        return None
    stored = models.arrays("extraction")
    if "calibration" not in stored or tuple(map(str, stored["signals"])) != SIGNALS:
        return None
    return {
        str(kind): row for kind, row in zip(stored["calibration_kinds"], stored["calibration"], strict=True)
    }
