"""What the trained scorer sees of a candidate: the rules' score, what finders noted, place and rivals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy
import numpy.typing

from docproc.apps.documents.understanding.extract.score import Scored

Matrix = numpy.typing.NDArray[numpy.float64]

# The first is what the rules say; the finders fill in the named parts; the last ones are compared here.
PARTS = (
    "labelled", "worth", "pull", "sum", "largest", "share", "cents", "sign", "zero", "checked", "company",
    "owner",     "clock", "earliest", "latest", "only", "digits", "mixed", "row",
    "top", "column", "tall", "legal",
    "domain",     "address", "address_below", "customer",
    "caps", "words", "not_name", "block", "letterhead", "role", "right",
    "below",     "joined", "rounded", "continues", "position", "paid",
)  # fmt: skip
NAMES = ("rule", *PARTS, "places", "behind", "y", "x", "doubt", "first_page", "after", "before")
_PART = {name: column for column, name in enumerate(PARTS, start=1)}


def matrix(scored: Sequence[Scored]) -> Matrix:
    """One row for each candidate."""
    features = numpy.zeros((len(scored), len(NAMES)))
    for row, each in enumerate(scored):
        features[row, 0] = each.score
        for name, value in each.parts.items():
            features[row, _PART[name]] = value
    _compare(features, scored)
    return features


def _compare(features: Matrix, scored: Sequence[Scored]) -> None:
    places: dict[str, int] = {}
    for each in scored:
        places[each.candidate.value] = places.get(each.candidate.value, 0) + (each.score > 0)
    best = max(each.score for each in scored)
    strong = [each.candidate.at.line for each in scored if each.score >= best - 1.0]
    first, last = min(strong), max(strong)
    start = len(PARTS) + 1
    for row, each in enumerate(scored):
        at = each.candidate.at
        features[row, start:] = (
            math.log(max(places[each.candidate.value], 1)),
            max(each.score - best, -6.0),
            at.box[1],
            at.box[2],
            1.0 - min(at.confidence + 0.02, 1.0),
            float(at.page == 0),
            # Of several that are equally well told, whether it is the first or the last.
            float(last > first and at.line == last and each.score >= best - 1.0),
            float(last > first and at.line == first and each.score >= best - 1.0),
        )
