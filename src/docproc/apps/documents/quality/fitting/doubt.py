"""Learns when the classifier's answer is worth little: from families of layouts it was not trained on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy

from docproc.apps.documents.quality.fitting import softmax
from docproc.apps.documents.quality.fitting.page_set import FIXED, Floats, PageSet
from docproc.apps.documents.understanding import page_doubt, page_features
from docproc.apps.documents.understanding.classify import Weights
from docproc.apps.documents.understanding.page_evidence import OTHER

FOLDS = 5
_STEPS, _RATE, _PENALTY = 800, 0.05, 2e-3
_SHARPER = (0.35, 0.45, 0.55, 0.7, 0.85, 1.0)  # what the temperature is tried with


def folds(pages: PageSet) -> list[tuple[list[int], list[int]]]:
    """The rows to learn from and those of the families left out, for each part of all families."""
    part = [zlib.crc32(source.encode()) % FOLDS for source in pages.sources]
    return [
        (
            [row for row, own in enumerate(part) if own != each],
            [row for row, own in enumerate(part) if own == each],
        )
        for each in range(FOLDS)
    ]


@dataclass(frozen=True)
class Fitted:
    """The weights of the doubt, and what the classifier's temperature is to be multiplied by.

    `sure` and `right` say, for every page as one of a family left out, how sure its likeliest type is with
    both, and whether it is right.
    """

    weights: Floats
    sharper: float
    sure: list[float]
    right: list[bool]


def fit(pages: PageSet, train: Callable[[PageSet], Weights]) -> Fitted:
    """Temperature and doubt together: a sharp answer that is mixed with not knowing tells pages unlike all
    others apart better than a blunt one, which is unsure of everything."""
    left_out = _left_out(pages, train)
    tried = [(sharper, *_weighed(left_out, sharper)) for sharper in _SHARPER]
    sharper, _, doubt, likely, seen = min(tried, key=lambda each: each[1])
    answers = [
        page_doubt.mixed(told, page_doubt.share(doubt, own)) for told, own in zip(likely, seen, strict=True)
    ]
    best = [max(answer, key=lambda name: answer[name]) for answer in answers]
    sure = [answer[name] for answer, name in zip(answers, best, strict=True)]
    right = [name == page.truth for name, page in zip(best, left_out, strict=True)]
    return Fitted(doubt, sharper, sure, right)


@dataclass(frozen=True)
class _Page:
    """A page of a family left out: what the classifier says of it, and all the doubt looks at."""

    truth: str
    likely: dict[str, float]
    scores: dict[str, float]
    titles: dict[str, float]
    known: int
    said: int

    def sharpened(self, sharper: float) -> dict[str, float]:
        raised = {name: max(share, 1e-12) ** (1 / sharper) for name, share in self.likely.items()}
        whole = sum(raised.values())
        return {name: share / whole for name, share in raised.items()}


def _left_out(pages: PageSet, train: Callable[[PageSet], Weights]) -> list[_Page]:
    found: list[_Page] = []
    for kept, apart in folds(pages):
        if not apart:
            continue
        weights, left = train(pages.only(kept)), pages.only(apart)
        logits = left.matrix(weights.names.words) @ weights.weights.T / weights.temperature
        for row, share in enumerate(softmax.probabilities(logits)):
            if left.doc_types[row] in weights.classes:
                scores, titles = page_features.told_of(left.fixed[row], FIXED)
                known = page_doubt.long_words(
                    [word for word in left.vocabularies[row] if word in weights.columns]
                )
                told = dict(zip(weights.classes, share.tolist(), strict=True))
                found.append(_Page(left.doc_types[row], told, scores, titles, known, int(left.said[row])))
    return found


def _weighed(
    pages: Sequence[_Page], sharper: float
) -> tuple[float, Floats, list[dict[str, float]], list[Floats]]:
    """With answers so much sharper: how unlikely the truth is, under which doubt, and by what."""
    likely = [page.sharpened(sharper) for page in pages]
    seen = [
        page_doubt.signs(told, page.titles, page.scores, page.known, page.said)
        for told, page in zip(likely, pages, strict=True)
    ]
    doubt, loss = _fitted(numpy.array(seen), likely, [page.truth for page in pages])
    return loss, doubt, likely, seen


def _fitted(seen: Floats, likely: Sequence[dict[str, float]], types: Sequence[str]) -> tuple[Floats, float]:
    """The doubt under which the truth is likeliest, and how unlikely it still is; every type counts alike."""
    own = numpy.array([told[truth] for told, truth in zip(likely, types, strict=True)])
    unknown = numpy.array(
        [(2 if truth == OTHER else 1) / (len(told) + 1) for told, truth in zip(likely, types, strict=True)]
    )
    counts = {name: types.count(name) for name in set(types)}
    count = numpy.array([1 / counts[name] for name in types])
    count /= count.sum()
    fitted = numpy.zeros(seen.shape[1])
    fitted[0] = -3.0
    mean, square = numpy.zeros_like(fitted), numpy.zeros_like(fitted)
    for step in range(1, _STEPS + 1):  # Adam: a handful of weights, and a surface that is not convex
        chance = 1 / (1 + numpy.exp(-seen @ fitted))
        mixture = (1 - chance) * own + chance * unknown
        slope = count * (own - unknown) / numpy.maximum(mixture, 1e-9) * chance * (1 - chance)
        gradient = seen.T @ slope + _PENALTY * fitted
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        fitted -= _RATE * (mean / (1 - 0.9**step)) / (numpy.sqrt(square / (1 - 0.999**step)) + 1e-9)
    chance = 1 / (1 + numpy.exp(-seen @ fitted))
    loss = -float((count * numpy.log(numpy.maximum((1 - chance) * own + chance * unknown, 1e-9))).sum())
    return fitted.astype(numpy.float32), loss
