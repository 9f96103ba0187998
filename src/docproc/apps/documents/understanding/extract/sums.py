"""Amounts that make a sum: the best-told ones of which two make a third."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import product

from docproc.apps.documents.understanding.extract.score import Scored

_CLOSE = 2  # cents
_BEST = 8  # of the first and the third are tried
_LARGEST = 3  # and these, however they are labelled
_LARGEST_WINS = 1.5  # what it is worth that the sum is the largest amount of all
_WELL_TOLD = 2.5  # a sum of which neither this nor that part has a label is chance

Told = dict[int, tuple[float, str]]  # by cents: the best score, and the amount as it is written


def agreeing(parts: Sequence[Sequence[Scored]], beside: Sequence[Decimal]) -> tuple[str, str, str] | None:
    """The best-told values of which the first two make the third, less what stands `beside` the sum."""
    first, second, third = (_told(scored) for scored in parts)
    most = max(third, default=0)
    off = {_cents(each) for each in beside}
    best: tuple[float, tuple[str, str, str]] | None = None
    for (one, told), (total, sure), less in product(_best(first).items(), _best(third).items(), off):
        other = _near(second, total + less - one)
        if other is None or not (
            abs(one) > abs(other) > 0 < one * other or _untaxed(one, other, total, second)
        ):
            continue
        score = told[0] + sure[0] + second[other][0] + _LARGEST_WINS * (total == most)
        if max(told[0], sure[0]) > _WELL_TOLD and (best is None or score > best[0]):
            best = score, (told[1], second[other][1], sure[1])
    return best[1] if best else None


def _untaxed(one: int, other: int, total: int, second: Told) -> bool:
    """An exempt invoice says so: a labelled zero, and the net is the total."""
    return other == 0 and one == total > 0 and second[0][0] > _WELL_TOLD


def _cents(amount: Decimal) -> int:
    return int((amount * 100).to_integral_value())


def _told(scored: Sequence[Scored]) -> Told:
    by_cents: Told = {}
    for each in scored:
        cents = _cents(Decimal(each.candidate.value))
        if cents not in by_cents or each.score > by_cents[cents][0]:
            by_cents[cents] = (each.score, each.candidate.value)
    return by_cents


def _best(told: Told) -> Told:
    ranked = sorted(told, key=lambda cents: -told[cents][0])[:_BEST] + sorted(told, reverse=True)[:_LARGEST]
    return {cents: told[cents] for cents in ranked}


def _near(told: Told, wanted: int) -> int | None:
    near = [cents for cents in range(wanted - _CLOSE, wanted + _CLOSE + 1) if cents in told]
    return max(near, key=lambda cents: told[cents][0], default=None)
