"""Fits the classifier of pages, and the temperature that calibrates its confidences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy

from docproc.apps.documents.quality import metrics
from docproc.apps.documents.quality.fitting import doubt, noise, packed, page_set, softmax
from docproc.apps.documents.quality.fitting.labelled import LabelledPage, labelled
from docproc.apps.documents.quality.fitting.page_set import PageSet, Spread
from docproc.apps.documents.understanding import classify, page_doubt, page_evidence, page_features
from docproc.apps.documents.understanding.page_features import Names

NAME = "classifier"
SEED = 20_26
_COPIES = 1  # spoiled copies (`noise.py`) of each page, beside the clean one
_HELD_BACK = 5  # every fifth labelled file is not trained on: it calibrates the temperature
_LEAST_SOURCES, _LEAST_PAGES = 3, 12
_SMOOTHED = 0.02  # label smoothing: this share of each target is spread over the other types
# The fitted temperature is multiplied by this: generated pages are tidier than what people send, so a
# temperature fitted to them would make confidences too high. Families left out then sharpen it again, with a
# doubt about pages that are unlike all others (`doubt.py`).
_WIDER = 1.3
_LABELLED_WEIGHT = 3.0  # weight of a real page in the loss; a generated one has 1


@dataclass(frozen=True)
class Pages:
    """Pages to learn from, those held back to see what a confidence is worth, and how far words spread."""

    learnt: PageSet
    held_back: PageSet
    spread: Spread


def train(folders: Sequence[Path], into: Path, readings: Path | None = None) -> str:
    """Write `classifier.npz` into a folder; returns a line that says how it went."""
    pages = gather(folders, readings)
    weights, left_out = _with_doubt(pages)
    into.mkdir(parents=True, exist_ok=True)
    with (into / f"{classify.MODEL}.npz").open("wb") as file:
        numpy.savez_compressed(file, **classify.packed(weights))  # type: ignore[arg-type] # arrays only
    return (
        f"{len(weights.classes)} types, {len(pages.learnt)} pages, {weights.names.width} features, "
        f"temperature {weights.temperature:.2f}, "
        f"{_share_right(pages.held_back, weights):.2%} of {len(pages.held_back)} pages held back are right; "
        f"{left_out}"
    )


def _share_right(pages: PageSet, weights: classify.Weights) -> float:
    best = (pages.matrix(weights.names.words) @ weights.weights.T).argmax(axis=1)
    hits = [weights.classes[place] == kind for place, kind in zip(best, pages.doc_types, strict=True)]
    return float(numpy.mean(hits))


def gather(folders: Sequence[Path], readings: Path | None) -> Pages:
    """The packed pages and the labelled ones, clean and spoiled; every fifth labelled file is held back."""
    drawn = packed.pages()
    real = labelled(folders, readings)
    files = sorted({page.source for page in real})
    apart = set(files[::_HELD_BACK]) if len(files) >= 2 * _HELD_BACK else set()
    random = Random(SEED)
    learnt = [*spoiled((page for page in real if page.source not in apart), random)]
    held_back = [*spoiled((page for page in real if page.source in apart), random)]
    return Pages(
        drawn.learnt.and_(page_set.of(learnt)),
        drawn.held_back.and_(page_set.of(held_back)),
        drawn.spread.add(learnt),
    )


def spoiled(pages: Iterable[LabelledPage], random: Random) -> Iterator[LabelledPage]:
    """Each page as it is, and as a poor scan of it might be read."""
    for each in pages:
        yield each
        for _ in range(_COPIES):
            page = noise.fragment(each.page, random) if random.random() < 0.3 else each.page
            yield LabelledPage(noise.spoiled(page, random), each.doc_type, each.source, each.is_real)


def fit(pages: Pages) -> classify.Weights:
    """The weights, with the doubt that they leave about families of layouts they were not fitted to."""
    return _with_doubt(pages)[0]


def _with_doubt(pages: Pages) -> tuple[classify.Weights, str]:
    weights = _fitted(pages)
    found = doubt.fit(pages.learnt, lambda kept: _fitted(Pages(kept, pages.held_back, kept.spread())))
    ece, auroc = metrics.ece(found.sure, found.right), metrics.auroc(found.sure, found.right)
    told = (
        f"families left out: {numpy.mean(found.right):.2%} right, ECE {ece or 0:.3f}, AUROC {auroc or 0:.3f}"
    )
    temperature = weights.temperature * found.sharper
    return replace(weights, doubt=found.weights, temperature=temperature), told


def _fitted(pages: Pages) -> classify.Weights:
    classes = tuple(dict.fromkeys((*page_evidence.TYPES, *sorted(set(pages.learnt.doc_types)))))
    names = Names(
        page_evidence.TYPES, page_evidence.PHRASES, tuple(pages.spread.words(_LEAST_SOURCES, _LEAST_PAGES))
    )
    truth = _places(pages.learnt, classes)
    targets = numpy.full((len(truth), len(classes)), _SMOOTHED / len(classes), dtype=numpy.float32)
    targets[numpy.arange(len(truth)), truth] += 1 - _SMOOTHED
    weights = softmax.fit(pages.learnt.matrix(names.words), targets, _balance(pages.learnt, classes))
    apart = numpy.array([kind in classes for kind in pages.held_back.doc_types])
    logits = pages.held_back.matrix(names.words)[apart] @ weights.T
    known = numpy.array([classes.index(kind) for kind in pages.held_back.doc_types if kind in classes])
    wider = _WIDER * softmax.temperature(logits, known)
    columns = page_features.columns_of(names)
    return classify.Weights(
        classes, names, columns, weights, wider, numpy.zeros(page_doubt.WIDTH, numpy.float32)
    )


def _places(pages: PageSet, classes: Sequence[str]) -> numpy.typing.NDArray[numpy.intp]:
    return numpy.array([classes.index(kind) for kind in pages.doc_types])


def _balance(pages: PageSet, classes: Sequence[str]) -> softmax.Floats:
    """Every type counts alike, `other` twice, being the widest; real pages count more within their type."""
    own = numpy.where(pages.real, _LABELLED_WEIGHT, 1.0)
    truth = _places(pages, classes)
    totals = numpy.bincount(truth, own, len(classes))
    share = numpy.array([2.0 if kind == page_evidence.OTHER else 1.0 for kind in classes])
    balanced: softmax.Floats = (own * share[truth] / totals[truth]).astype(numpy.float32)
    return balanced
