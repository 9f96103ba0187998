"""Deciding: whether a candidate may replace what is live, and whether what was promoted must go back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from docproc.promotion.suite import CaseOutcome

# Before it is judged, a version must have done so much.
LEAST_REQUESTS = 200
CONFIDENCE = 0.99


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to promote, and why: sentences for people."""

    accepted: bool
    reasons: tuple[str, ...]


def judge(candidate: Sequence[CaseOutcome], live: Sequence[CaseOutcome] | None) -> Verdict:
    """A candidate is accepted when it answers every case right that the live version answers right; without a
    live version, all of them."""
    if not candidate:
        return Verdict(False, ("there are no golden cases: add some with `docproc golden add --request ID`",))
    passed = {one.case_id for one in candidate if one.passed}
    if live is None:
        before = {one.case_id for one in candidate}
    else:
        before = {one.case_id for one in live if one.passed}
    lost = [one for one in candidate if one.case_id in before - passed]
    figures = f"{len(passed)} of {len(candidate)} cases pass"
    if live is not None:
        figures += f"; {len(before)} of the version that is live"
    if not lost:
        return Verdict(True, (figures,))
    return Verdict(False, (figures, *(_told(one) for one in lost)))


def _told(one: CaseOutcome) -> str:
    found = one.problem or "; ".join(map(str, one.differences[:5]))
    more = f" (and {len(one.differences) - 5} more)" if len(one.differences) > 5 else ""
    return f"{one.title}: {found}{more}"


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of so many requests, such as those that failed."""

    number: int
    requests: int

    @property
    def share(self) -> float:
        return self.number / self.requests if self.requests else 0.0

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Wilson's, which holds for few requests and rates near zero, too."""
        if not self.requests:
            return 0.0, 1.0
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        n, p = self.requests, self.share
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


def has_left(before: Rate, after: Rate) -> bool:
    """Whether a rate is worse than the version before can explain, both over enough requests."""
    if min(before.requests, after.requests) < LEAST_REQUESTS:
        return False
    return after.share > before.interval()[1]
