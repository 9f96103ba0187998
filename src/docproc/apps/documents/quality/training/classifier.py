"""Trains the classifier of pages, and what divides its logits so that a confidence means what it says."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy

from docproc.apps.documents.quality.training import made_up, noise, softmax
from docproc.apps.documents.quality.training.examples import Example, drawn, labelled
from docproc.apps.documents.understanding import classify, page_features, rules
from docproc.apps.documents.understanding.page_features import Names

NAME = "classifier"
SEED = 20_26
_MADE_UP = 320  # pages of a type; `other` gets several times as many, being several kinds of things
_DRAWN = 10  # documents of each layout and language
_OTHER_TIMES = 3
_COPIES = 1  # spoiled ones of each page
_HELD_BACK = 5  # every fifth labelled file decides the temperature only
_LEAST_SOURCES, _LEAST_PAGES = 3, 12
_SMOOTHED = 0.02  # of each target goes to the other types: nobody is ever that sure
_WIDER = 1.3  # what is drawn and made up is tidier than what people send
_LABELLED_WEIGHT = 3.0  # real pages count more than made-up ones


@dataclass(frozen=True)
class Pages:
    """Examples to learn from, and those held back to see what a confidence is worth."""

    learnt: list[Example]
    held_back: list[Example]


def train(folders: Sequence[Path], into: Path, readings: Path | None = None) -> str:
    """Write `classifier.npz` into a folder; returns a line that says how it went."""
    pages = gather(folders, readings)
    weights = fit(pages)
    into.mkdir(parents=True, exist_ok=True)
    with (into / f"{classify.MODEL}.npz").open("wb") as file:
        numpy.savez_compressed(file, **classify.packed(weights))  # type: ignore[arg-type] # arrays only
    right = numpy.mean([_is_right(example, into) for example in pages.held_back])
    return (
        f"{len(weights.classes)} types, {len(pages.learnt)} pages, {weights.names.width} features, "
        f"temperature {weights.temperature:.2f}, "
        f"{right:.2%} of {len(pages.held_back)} pages held back are right"
    )


def _is_right(example: Example, folder: Path) -> bool:
    return classify.classify(example.page, models=folder).doc_type == example.doc_type


def gather(folders: Sequence[Path], readings: Path | None) -> Pages:
    """Pages clean and spoiled; held-out layouts and every fifth labelled file are held back."""
    random = Random(SEED)
    learnt = list(_made_up(random))
    held_back: list[Example] = []
    with tempfile.TemporaryDirectory() as work:
        learnt += drawn(Path(work), "training", _DRAWN, random)
        held_back += drawn(Path(work), "held_out", _DRAWN // 2, random)
    real = labelled(folders, readings)
    files = sorted({example.source for example in real})
    apart = set(files[::_HELD_BACK]) if len(files) >= 2 * _HELD_BACK else set()
    learnt += [example for example in real if example.source not in apart]
    held_back += [example for example in real if example.source in apart]
    return Pages([*_spoiled(learnt, random)], [*_spoiled(held_back, random)])


def _made_up(random: Random) -> Iterator[Example]:
    for kind, pool in made_up.POOLS.items():
        for number in range(_MADE_UP * (_OTHER_TIMES if kind == rules.OTHER else 1)):
            recipe = number % len(pool)
            yield Example(made_up.page(pool[recipe], kind, random), kind, f"made up {kind} {recipe}")


def _spoiled(examples: Sequence[Example], random: Random) -> Iterator[Example]:
    for example in examples:
        yield example
        for _ in range(_COPIES):
            page = noise.fragment(example.page, random) if random.random() < 0.3 else example.page
            yield Example(noise.spoiled(page, random), example.doc_type, example.source, example.is_real)


def fit(pages: Pages) -> classify.Weights:
    examples = pages.learnt
    classes = tuple(dict.fromkeys((*rules.TYPES, *sorted({example.doc_type for example in examples}))))
    names = Names(rules.TYPES, rules.PHRASES, tuple(_words(examples)))
    columns = page_features.columns_of(names)
    vectors = numpy.stack([_vector(example, columns, names) for example in examples])
    truth = numpy.array([classes.index(example.doc_type) for example in examples])
    targets = numpy.full((len(truth), len(classes)), _SMOOTHED / len(classes), dtype=numpy.float32)
    targets[numpy.arange(len(truth)), truth] += 1 - _SMOOTHED
    weights = softmax.fit(vectors, targets, _balance(examples, classes))
    apart = [example for example in pages.held_back if example.doc_type in classes]
    logits = numpy.stack([_vector(example, columns, names) for example in apart]) @ weights.T
    known = numpy.array([classes.index(example.doc_type) for example in apart])
    wider = _WIDER * softmax.temperature(logits, known)
    return classify.Weights(classes, names, columns, weights, wider)


def _words(examples: Sequence[Example]) -> list[str]:
    pairs = [(example.source if not example.is_real else "real", example.page.text) for example in examples]
    return page_features.spread_words(pairs, _LEAST_SOURCES, _LEAST_PAGES)


def _vector(example: Example, columns: dict[str, int], names: Names) -> page_features.Vector:
    return page_features.vector(example.page, rules.tell(example.page.text), columns, names)


def _balance(examples: Sequence[Example], classes: Sequence[str]) -> softmax.Floats:
    """Every type counts alike, `other` twice, being the widest; real pages count more within their type."""
    own = numpy.array([_LABELLED_WEIGHT if example.is_real else 1.0 for example in examples])
    truth = numpy.array([classes.index(example.doc_type) for example in examples])
    totals = numpy.bincount(truth, own, len(classes))
    share = numpy.array([2.0 if kind == rules.OTHER else 1.0 for kind in classes])
    balanced: softmax.Floats = (own * share[truth] / totals[truth]).astype(numpy.float32)
    return balanced
