"""The measures: F1, calibration error, AUROC and automation rate, each on plain arrays."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_BINS = 10
PER_BIN = 20  # fewer in a bin, and chance alone looks like a calibration error
RESAMPLES = 1000
Z95 = 1.959964

Floats = NDArray[np.float64]


def f1(right: int, answered: int, wanted: int) -> float | None:
    """The harmonic mean of precision and recall; None where nothing was wanted and nothing found."""
    return 2 * right / (answered + wanted) if answered + wanted else None


def share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def macro_f1(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """The mean F1 of the classes that occur as truth, of (truth, answer) pairs."""
    classes = {truth for truth, _ in pairs}
    return mean(
        f1(
            sum(truth == answer == each for truth, answer in pairs),
            sum(answer == each for _, answer in pairs),
            sum(truth == each for truth, _ in pairs),
        )
        for each in classes
    )


@dataclass(frozen=True, slots=True)
class Bin:
    """A stretch of confidences: how sure on the mean, and how often right."""

    confidence: float
    accuracy: float
    n: int


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> list[Bin]:
    """Bins of about equal mass, at most ten; equal confidences stay together."""
    n = len(confidences)
    if not n:
        return []
    order = np.argsort(np.asarray(confidences, dtype=float), kind="stable")
    sure, good = np.asarray(confidences, dtype=float)[order], np.asarray(right, dtype=float)[order]
    count = min(MOST_BINS, max(1, n // PER_BIN))
    ends = sorted(
        {int(np.searchsorted(sure, sure[(n * k) // count - 1], "right")) for k in range(1, count + 1)}
    )
    return [
        Bin(float(sure[start:end].mean()), float(good[start:end].mean()), end - start)
        for start, end in zip([0, *ends], ends, strict=False)
    ]


def ece(confidences: Sequence[float], right: Sequence[bool]) -> float | None:
    """How far confidence and accuracy are apart on the mean, over bins of equal mass."""
    bins = reliability(confidences, right)
    n = sum(each.n for each in bins)
    return sum(each.n * abs(each.confidence - each.accuracy) for each in bins) / n if n else None


def auroc(confidences: Sequence[float], right: Sequence[bool]) -> float | None:
    """How often a right answer is surer than a wrong one; None where all are right, or all wrong."""
    sure, good = np.asarray(confidences, dtype=float), np.asarray(right, dtype=bool)
    positives, negatives = int(good.sum()), int((~good).sum())
    if not positives or not negatives:
        return None
    _, places, counts = np.unique(sure, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]  # ties share the mean of their ranks
    return float((ranks[good].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def wilson(part: int, whole: int) -> tuple[float, float] | None:
    """The 95 % confidence interval of a share."""
    if not whole:
        return None
    p, z2 = part / whole, Z95 * Z95
    middle = (p + z2 / (2 * whole)) / (1 + z2 / whole)
    half = Z95 * math.sqrt(p * (1 - p) / whole + z2 / (4 * whole * whole)) / (1 + z2 / whole)
    return max(0.0, middle - half), min(1.0, middle + half)


def needed(target: float) -> int:
    """How many answers in a row must be right before 95 % confidence holds that `target` of them are."""
    return math.ceil(math.log(0.05) / math.log(target))


@dataclass(frozen=True, slots=True)
class Automation:
    """What could go straight through at a precision: everything at least as sure as `threshold`."""

    share: float
    interval: tuple[float, float]  # 95 %, by resampling
    threshold: float | None
    accepted: int
    precision: float | None


def automation(confidences: Sequence[float], right: Sequence[bool], target: float) -> Automation | None:
    """The largest share whose precision reaches `target` on this data; the threshold is chosen on it, too."""
    n = len(confidences)
    if not n:
        return None
    order = np.argsort(-np.asarray(confidences, dtype=float), kind="stable")
    sure, good = np.asarray(confidences, dtype=float)[order], np.asarray(right, dtype=float)[order]
    last = np.append(sure[1:] != sure[:-1], True)  # a threshold cannot part equals
    usable = last & (sure > 0)  # what is not sure at all never goes through
    accepted = int(_accepted(np.ones((1, n)), good, usable, target)[0])
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float)
    low, high = np.percentile(_accepted(drawn, good, usable, target) / n, [2.5, 97.5])
    return Automation(
        accepted / n,
        (float(low), float(high)),
        float(sure[accepted - 1]) if accepted else None,
        accepted,
        float(good[:accepted].mean()) if accepted else None,
    )


def _accepted(weights: Floats, good: Floats, usable: NDArray[np.bool_], target: float) -> Floats:
    """For each row of weights, the weight of the longest beginning that is precise enough."""
    taken, right = weights.cumsum(axis=1), (weights * good).cumsum(axis=1)
    enough = usable & (right >= target * taken - 1e-9)
    result: Floats = np.where(enough, taken, 0.0).max(axis=1)
    return result
