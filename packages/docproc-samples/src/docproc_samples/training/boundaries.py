"""Trains what says whether a page begins a document, on made-up packets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy
import numpy.typing

from docproc.apps.documents.quality.fitting import softmax
from docproc.apps.documents.understanding import boundaries, models, page_pairs
from docproc.apps.documents.understanding.boundaries import PageKind
from docproc.apps.documents.understanding.classify import classify
from docproc_samples.training.packets import Packet, packets

NAME = "boundaries"
SEED = 20_27
_PACKETS, _HELD_OUT = 1000, 100
_SMOOTHED = 0.02

Seen = list[
    tuple[PageKind, str, bool]
]  # a page as it is found, its true type, whether a document begins there


def train(into: Path) -> str:
    """Write `boundaries.npz` into a folder; the classifier's weights must be there or packaged."""
    random = Random(SEED)
    with tempfile.TemporaryDirectory() as work, models.using(into):
        learnt = [_seen(packet) for packet in packets(Path(work), _PACKETS, "training", random)]
        apart = [_seen(packet) for packet in packets(Path(work), _HELD_OUT, "held_out", random)]
    vectors, truth = _pairs(learnt)
    targets = numpy.full((len(truth), 2), _SMOOTHED / 2, dtype=numpy.float32)
    targets[numpy.arange(len(truth)), truth] += 1 - _SMOOTHED
    weights = softmax.fit(
        vectors, targets, numpy.ones(len(truth), dtype=numpy.float32), penalty=2e-4, steps=3000
    )
    held, known = _pairs(apart)
    wider = max(softmax.temperature(held @ weights.T, known), 1.0)
    with (into / f"{boundaries.MODEL}.npz").open("wb") as file:
        numpy.savez_compressed(file, weights=((weights[1] - weights[0]) / wider).astype(numpy.float16))
    with models.using(into):
        right = score(apart)
    return f"{len(truth)} pairs, temperature {wider:.2f}, split F1 {right:.3f} on packets held out"


def _seen(packet: Packet) -> Seen:
    made: Seen = []
    for kind, pages in packet:
        for number, page in enumerate(pages):
            classified = classify(page)
            seen = PageKind(
                classified.doc_type,
                classified.confidence,
                boundaries.marks(page),
                looks=classified.scores,
            )
            made.append((seen, kind, number == 0))
    return made


def _pairs(packets: Iterable[Seen]) -> tuple[softmax.Floats, numpy.typing.NDArray[numpy.intp]]:
    vectors, truth = [], []
    for pages in packets:
        for (before, kind, _), (page, _, begins) in pairwise(pages):
            blank = before.marks.get("blank") or page.marks.get("blank")
            if not blank and page_pairs.said(before.marks, page.marks) is None:
                vectors.append(page_pairs.vector(before.marks, page.marks, kind))
                truth.append(int(begins))
    return numpy.stack(vectors), numpy.array(truth)


def score(packets: Iterable[Seen]) -> float:
    """The F1 of documents found with exactly their pages and type."""
    hits = answered = wanted = 0
    for pages in packets:
        groups = {(g.doc_type, g.places) for g in boundaries.group([page for page, _, _ in pages])}
        true = set(_documents(pages))
        hits, answered, wanted = hits + len(groups & true), answered + len(groups), wanted + len(true)
    return 2 * hits / max(answered + wanted, 1)


def _documents(pages: Seen) -> Iterator[tuple[str, tuple[int, ...]]]:
    starts = [place for place, (_, _, begins) in enumerate(pages) if begins]
    for start, end in zip(starts, [*starts[1:], len(pages)], strict=True):
        yield pages[start][1], tuple(range(start, end))
