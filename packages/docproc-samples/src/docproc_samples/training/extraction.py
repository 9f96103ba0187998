"""Trains the packaged scorer of fields and its calibration: labelled folders, drawn samples, prints."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy

from docproc.apps.documents.quality import labels
from docproc.apps.documents.quality.fitting import scoring
from docproc.apps.documents.quality.fitting.labelled import reading
from docproc.apps.documents.quality.fitting.noise import spoiled
from docproc.apps.documents.quality.fitting.scoring import (
    FOLDS,
    REAL,
    Chosen,
    FieldExample,
    KnownDocument,
    examples,
    fit,
    fold_of,
    write,
)
from docproc.apps.documents.understanding import models
from docproc.apps.documents.understanding.extract import calibrate
from docproc.apps.documents.understanding.extract.scorer import Vector
from docproc.reading.folding import fold
from docproc.reading.page import PageText, Source
from docproc_samples import drawing
from docproc_samples.training.prints import prints

NAME = "extraction"
_SEED, _DRAWN = 11, 24  # of each kind and language
_NOISY_PRINTS = 2
_SURE = 0.98
# The calibrated log-odds are multiplied by this: unseen documents are harder than the held-out ones, so the
# fitted confidences would be a little too high.
_SHRINK = 0.95


def with_noise(documents: Iterable[KnownDocument], seed: int = 1) -> Iterator[KnownDocument]:
    """Each drawn document as it is, and as a scan of it might be read."""
    for number, document in enumerate(documents):
        yield document
        if not document.real and all(page.source == Source.TEXT_LAYER for page in document.pages):
            random = Random(f"{seed}/{number}")
            pages = tuple(_sure(spoiled(page, random)) for page in document.pages)
            yield KnownDocument(document.doc_type, document.fields, pages, document.group, False)


def _sure(page: PageText) -> PageText:
    """The page with one high confidence for all words.

    Those that spoiling makes up are random: they would teach the calibration to ignore those of OCR.
    """
    return replace(page, words=tuple(replace(word, confidence=_SURE) for word in page.words))


def held_out(known: Sequence[FieldExample]) -> list[Chosen]:
    """What the scorer chooses in each fold when it has learnt from the others."""
    chosen: list[Chosen] = []
    for number in range(FOLDS):
        weights = fit([each for each in known if fold_of(each.group) != number])
        chosen += [scoring.chosen(each, weights) for each in known if fold_of(each.group) == number]
    return chosen


def fit_calibration(chosen: Sequence[Chosen]) -> dict[str, Vector]:
    """Logistic regressions by kind, with the one over all kinds (under "") as their prior."""
    everything = _logistic(chosen, numpy.zeros(len(calibrate.SIGNALS)), 1e-3)
    by_kind = {"": everything}
    for kind in sorted({each.kind for each, _, _ in chosen}):
        by_kind[kind] = _logistic([one for one in chosen if one[0].kind == kind], everything, 0.01)
    return {kind: weights * _SHRINK for kind, weights in by_kind.items()}


def _logistic(chosen: Sequence[Chosen], prior: Vector, to_prior: float) -> Vector:
    seen = numpy.array([calibrate.signals(ranking) for _, ranking, _ in chosen])
    right = numpy.array([float(good) for _, _, good in chosen])
    # A value that is not among the candidates teaches the scorer less, but on a real page it is as wrong as
    # any other. Of drawn pages that were spoilt this is not said: they misread more than a reader does.
    weight = numpy.array([REAL if each.weight > 1 else each.weight for each, _, _ in chosen])
    weight = weight / weight.sum()
    weights = prior.copy()
    for _ in range(40):  # Newton's method: about ten weights, so the Hessian is small
        share = 1 / (1 + numpy.exp(-numpy.clip(seen @ weights, -30, 30)))
        gradient = seen.T @ (weight * (share - right)) + to_prior * (weights - prior)
        curve = (seen * (weight * share * (1 - share))[:, None]).T @ seen + (to_prior + 1e-9) * numpy.eye(
            len(weights)
        )
        weights = weights - numpy.linalg.solve(curve, gradient)
    return weights


def train(folders: Sequence[Path], into: Path = models.PACKAGED, readings: Path | None = None) -> str:
    """Write the weights anew, from labelled folders, drawn samples and prints; says how it went."""
    known = [*examples(documents(folders, readings))]
    chosen = held_out(known)
    write(into / f"{NAME}.npz", fit(known), fit_calibration(chosen))
    right = sum(good for _, _, good in chosen)
    return f"{len(known)} fields, {right} of them right where their layout was held out"


def documents(folders: Sequence[Path], readings: Path | None = None) -> Iterator[KnownDocument]:
    """Real documents as they are; drawn and written ones also as they might be read from scans."""
    yield from _real(folders, readings)
    with tempfile.TemporaryDirectory() as work:
        yield from with_noise(_drawn(Path(work)))
    for seed in range(1, _NOISY_PRINTS + 1):
        written = (
            KnownDocument(each.doc_type, each.fields, (each.page,), each.name, False) for each in prints()
        )
        yield from with_noise(written, seed)


def _real(folders: Sequence[Path], readings: Path | None) -> Iterator[KnownDocument]:
    for folder in labels.read(folders) if folders else []:
        for file in folder.files:
            for document in file.documents:
                fields = {name: value for name, value in document.fields.items() if value}
                pages = tuple(
                    reading(folder.path_of(file), index, readings) for index in document.page_indices
                )
                if fields and document.doc_type != "other":
                    # One shop's receipts look alike: they are held out together.
                    group = fold(fields.get("vendor_name", file.file))[:12]
                    yield KnownDocument(document.doc_type, fields, pages, group, True)


def _drawn(work: Path) -> Iterator[KnownDocument]:
    kinds = [kind for kind in drawing.KINDS if kind not in ("packet", "other")]
    for sample in drawing.write(
        work, seed=_SEED, count=_DRAWN, forms=("digital",), kinds=kinds, layouts="training"
    ):
        for document in sample.documents:
            pages = tuple(reading(sample.path, index, None) for index in document.page_indices)
            fields = {name: value for name, value in document.fields.items() if value}
            yield KnownDocument(
                document.doc_type, fields, pages, f"{document.doc_type} {document.layout}", False
            )
