"""Teaches the scorer of fields what an installation's own documents say, near what it knows already."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy

from docproc.apps.documents import samples
from docproc.apps.documents.quality import labels
from docproc.apps.documents.quality.training import extraction
from docproc.apps.documents.quality.training.examples import reading
from docproc.apps.documents.quality.training.extraction import Example, Labelled
from docproc.apps.documents.understanding import models
from docproc.apps.documents.understanding.extract import calibrate, scorer
from docproc.apps.documents.understanding.extract.scorer import Ranking, Vector

MODEL = "extraction"
FEW = 20  # labelled documents; with less only the meaning of confidences is corrected
_SAMPLES = 3  # of each kind and language beside them, so that what others taught is not forgotten
_DOUBT = 20.0  # values that must speak before a confidence moves half of the way

Chosen = tuple[Example, Ranking, bool]


def train(folders: Sequence[Path], into: Path, readings: Path | None = None) -> str:
    """Write `extraction.npz` into a folder that may hold the one to start from; says how it went."""
    stored = models.arrays(MODEL, into) if models.version(MODEL, into) else {}
    start = scorer.of_arrays(stored) if stored else scorer.Weights({}, {})
    calibration = _calibration(stored)
    real = [*documents(folders, readings)]
    known = [*extraction.examples(real)]
    weights, told = start, "its confidences were corrected"
    if len(real) >= FEW:
        weights = extraction.fit([*known, *_made_up()], start)
        told = "weights and confidences were learnt"
    # Judged by folds: a value that was learnt by heart says nothing of the next one.
    chosen = _held_out(known, start) if len(real) >= FEW else [_chosen(each, start) for each in known]
    shifted = shift(chosen, calibration)
    into.mkdir(parents=True, exist_ok=True)
    extraction.write(into / f"{MODEL}.npz", weights, shifted)
    right = sum(good for _, _, good in chosen)
    return f"{len(real)} documents, {len(known)} fields, {right} of them right: {told}"


def documents(folders: Sequence[Path], readings: Path | None) -> Iterator[Labelled]:
    """The labelled documents with values; what is labelled as absent has no place to learn."""
    for folder in labels.read(folders):
        for file in folder.files:
            path = folder.path_of(file)
            for document in file.documents:
                fields = {name: value for name, value in document.fields.items() if value}
                if not fields:
                    continue
                pages = tuple(reading(path, index, readings) for index in document.page_indices)
                yield Labelled(document.doc_type, fields, pages, f"{folder.name}/{file.file}", real=True)


def _made_up() -> list[Example]:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        samples.write(folder, seed=9, count=_SAMPLES, forms=("digital",), layouts="training")
        drawn = [
            Labelled(each.doc_type, each.fields, each.pages, each.group, real=False)
            for each in documents([folder], None)
        ]
        return [*extraction.examples(extraction.with_noise(drawn))]


def _calibration(stored: models.Arrays) -> dict[str, Vector]:
    """The one in use; without one, a neutral one."""
    if "calibration" in stored and tuple(map(str, stored["signals"])) == calibrate.SIGNALS:
        rows = zip(stored["calibration_kinds"], stored["calibration"], strict=True)
        return {str(kind): numpy.asarray(row, dtype=float) for kind, row in rows}
    plain = numpy.zeros(len(calibrate.SIGNALS))
    plain[calibrate.SIGNALS.index("odds")] = 1.0
    return {"": plain}


def _held_out(known: Sequence[Example], start: scorer.Weights) -> list[Chosen]:
    found: list[Chosen] = []
    for fold in range(extraction.FOLDS):
        apart = [each for each in known if extraction.fold_of(each.group) == fold]
        rest = [each for each in known if extraction.fold_of(each.group) != fold]
        weights = extraction.fit(rest, start) if rest else start
        found += [_chosen(each, weights) for each in apart]
    return found


def _chosen(each: Example, weights: scorer.Weights) -> Chosen:
    own, nothing = weights.of(each.doc_type, each.name, each.kind)
    ranking = scorer.ranked(each.scored, each.seen, each.seen @ own, nothing)
    values = {one.candidate.value for one, right in zip(each.scored, each.right, strict=True) if right}
    return each, ranking, ranking.best.value in values


def shift(chosen: Sequence[Chosen], calibration: dict[str, Vector]) -> dict[str, Vector]:
    """All confidences moved by the step in log-odds that the chosen values ask for; few ask for little."""
    if not chosen:
        return calibration
    odds = numpy.array(
        [
            float(calibrate.signals(ranking) @ calibration.get(each.kind, calibration[""]))
            for each, ranking, _ in chosen
        ]
    )
    right = numpy.array([float(good) for _, _, good in chosen])
    step = 0.0
    for _ in range(20):  # Newton on one number, held back by a prior at zero
        share = 1 / (1 + numpy.exp(-numpy.clip(odds + step, -30, 30)))
        curve = float((share * (1 - share)).sum()) + _DOUBT / 4
        step += (float((right - share).sum()) - _DOUBT / 4 * step) / curve
    move = numpy.zeros(len(calibrate.SIGNALS))
    move[calibrate.SIGNALS.index("bias")] = step
    return {kind: weights + move for kind, weights in calibration.items()}
