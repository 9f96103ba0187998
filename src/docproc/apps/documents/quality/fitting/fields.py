"""Teaches the scorer of fields what an installation's own documents say, near what it knows already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy

from docproc.apps.documents.quality import labels
from docproc.apps.documents.quality.fitting import packed, scoring
from docproc.apps.documents.quality.fitting.labelled import reading
from docproc.apps.documents.quality.fitting.scoring import Chosen, FieldExample, KnownDocument
from docproc.apps.documents.understanding import models
from docproc.apps.documents.understanding.extract import calibrate, scorer
from docproc.apps.documents.understanding.extract.scorer import Vector

MODEL = "extraction"
FEW = 20  # with fewer labelled documents only the calibration is corrected; the weights stay
_DOUBT = 20.0  # strength of the prior at "no shift": as many values move confidences half of the way


def train(folders: Sequence[Path], into: Path, readings: Path | None = None) -> str:
    """Write `scoring.npz` into a folder that may hold the one to start from; says how it went."""
    stored = models.arrays(MODEL, into) if models.version(MODEL, into) else {}
    start = scorer.of_arrays(stored) if stored else scorer.Weights({}, {})
    calibration = _calibration(stored)
    real = [*documents(folders, readings)]
    known = [*scoring.examples(real)]
    weights, told = start, "its confidences were corrected"
    if len(real) >= FEW:
        # Generated documents are added, so that fine-tuning does not forget what the packaged weights know.
        weights = scoring.fit([*known, *packed.fields()], start)
        told = "weights and confidences were learnt"
    # Calibrated on cross-validated choices: those on documents that were trained on would look too sure.
    chosen = _held_out(known, start) if len(real) >= FEW else [scoring.chosen(each, start) for each in known]
    shifted = shift(chosen, calibration)
    into.mkdir(parents=True, exist_ok=True)
    scoring.write(into / f"{MODEL}.npz", weights, shifted)
    right = sum(good for _, _, good in chosen)
    return f"{len(real)} documents, {len(known)} fields, {right} of them right: {told}"


def documents(folders: Sequence[Path], readings: Path | None) -> Iterator[KnownDocument]:
    """The labelled documents with values; what is labelled as absent has no place to learn."""
    for folder in labels.read(folders):
        for file in folder.files:
            path = folder.path_of(file)
            for document in file.documents:
                fields = {name: value for name, value in document.fields.items() if value}
                if not fields:
                    continue
                pages = tuple(reading(path, index, readings) for index in document.page_indices)
                yield KnownDocument(document.doc_type, fields, pages, f"{folder.name}/{file.file}", real=True)


def _calibration(stored: models.Arrays) -> dict[str, Vector]:
    """The one in use; without one, a neutral one."""
    if "calibration" in stored and tuple(map(str, stored["signals"])) == calibrate.SIGNALS:
        rows = zip(stored["calibration_kinds"], stored["calibration"], strict=True)
        return {str(kind): numpy.asarray(row, dtype=float) for kind, row in rows}
    plain = numpy.zeros(len(calibrate.SIGNALS))
    plain[calibrate.SIGNALS.index("odds")] = 1.0
    return {"": plain}


def _held_out(known: Sequence[FieldExample], start: scorer.Weights) -> list[Chosen]:
    chosen: list[Chosen] = []
    for fold in range(scoring.FOLDS):
        apart = [each for each in known if scoring.fold_of(each.group) == fold]
        rest = [each for each in known if scoring.fold_of(each.group) != fold]
        weights = scoring.fit(rest, start) if rest else start
        chosen += [scoring.chosen(each, weights) for each in apart]
    return chosen


def shift(chosen: Sequence[Chosen], calibration: dict[str, Vector]) -> dict[str, Vector]:
    """The calibration with its bias moved by one shift in log-odds, fitted to the chosen values.

    The shift has a prior at zero (`_DOUBT`), so that few values move it little.
    """
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
    for _ in range(20):  # Newton's method in one dimension
        share = 1 / (1 + numpy.exp(-numpy.clip(odds + step, -30, 30)))
        curve = float((share * (1 - share)).sum()) + _DOUBT / 4
        step += (float((right - share).sum()) - _DOUBT / 4 * step) / curve
    move = numpy.zeros(len(calibrate.SIGNALS))
    move[calibrate.SIGNALS.index("bias")] = step
    return {kind: weights + move for kind, weights in calibration.items()}
