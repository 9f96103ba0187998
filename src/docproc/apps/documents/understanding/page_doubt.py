"""How likely a page is unlike everything the classifier was trained on, so that its answer says little.

The classifier only compares types with each other: a page that resembles none of them is still given to the
one that loses least, often `other`, and surely so. The doubt is learnt from pages of whole families of
layouts that the classifier had not seen, and mixes its answer with not knowing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy
import numpy.typing

from docproc.apps.documents.understanding.page_evidence import OTHER, TITLE

Vector = numpy.typing.NDArray[numpy.float32]

LEAST_LETTERS = 4  # of a word that tells something
WIDTH = 8  # numbers that the doubt is weighed by
_LEAST, _MOST = 0.001, 0.9


def long_words(vocabulary: Collection[str]) -> int:
    """How many different words of a page tell something."""
    return sum(1 for word in vocabulary if len(word) >= LEAST_LETTERS and word.isalpha())


def signs(
    likely: Mapping[str, float],
    titles: Mapping[str, float],
    scores: Mapping[str, float],
    known: int,
    said: int,
) -> Vector:
    """What speaks for and against the likeliest type.

    `titles` and `scores` are the evidence by type, `known` how many of the page's long words (of `said`) the
    classifier was trained on.
    """
    best = max(likely, key=lambda name: likely[name])
    sure = min(max(likely[best], 1e-6), 1 - 1e-6)
    is_other = float(best == OTHER)
    titled = float(titles.get(best, 0.0) >= TITLE)
    familiar = known / max(said, 1)
    return numpy.array(
        [
            1.0,
            math.log(sure / (1 - sure)) / 4,
            is_other,
            titled,
            is_other * titled,
            min(scores.get(best, 0.0), 12.0) / 6,
            2 * familiar,
            math.log1p(said) / 5,
        ],
        dtype=numpy.float32,
    )


def share(weights: Vector, seen: Vector) -> float:
    """The probability that the classifier's answer is worth nothing here."""
    chance = 1 / (1 + math.exp(-float(weights @ seen)))
    return min(max(chance, _LEAST), _MOST)


def mixed(likely: Mapping[str, float], doubt: float) -> dict[str, float]:
    """The answer mixed with not knowing: every type alike, `other`, being the widest, twice."""
    whole = sum(2 if name == OTHER else 1 for name in likely)
    return {
        name: (1 - doubt) * chance + doubt * (2 if name == OTHER else 1) / whole
        for name, chance in likely.items()
    }
