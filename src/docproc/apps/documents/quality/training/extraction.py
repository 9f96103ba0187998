"""Trains the scorer of fields and fits its calibration, on labelled folders."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy

from docproc.apps.documents import samples
from docproc.apps.documents.quality import labels, matching
from docproc.apps.documents.quality.training.examples import reading
from docproc.apps.documents.quality.training.noise import spoiled
from docproc.apps.documents.quality.training.prints import prints
from docproc.apps.documents.understanding import models
from docproc.apps.documents.understanding.extract import calibrate, features, scorer
from docproc.apps.documents.understanding.extract.features import Matrix
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.apps.documents.understanding.extract.scorer import Vector
from docproc.apps.documents.understanding.extract.search import Search
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldType
from docproc.reading.folding import fold
from docproc.reading.page import PageText, Source

NAME = "extraction"
FOLDS = 5
_STEPS = 250
_RATE = 0.04
_TO_PRIOR = 0.005  # how much the data must say before a kind's weights leave what the rules say …
_TO_KIND = 0.015  # … and before a field's leave its kind's
_CAUTION = 8.0  # times that, for kinds of which no photographed page is among the examples
_UNFOUND = 0.5  # what an example teaches whose value is not among the candidates: to say nothing
_REAL = 3.0  # a photographed page teaches more than a drawn one
_SEED, _DRAWN = 11, 24  # of each kind and language
_NOISY_PRINTS = 2
_SURE = 0.98
_SHRINK = 0.95  # of the calibrated odds: documents nobody has seen are harder than the held-out ones


@dataclass(frozen=True)
class Labelled:
    """A document with its pages and right values; those of one `group` are learnt or held out together."""

    doc_type: str
    fields: dict[str, str]
    pages: tuple[PageText, ...]
    group: str
    real: bool


@dataclass(frozen=True)
class Example:
    """One field of one document: the candidates as the scorer sees them, and which are right."""

    doc_type: str
    name: str
    kind: str
    scored: Sequence[Scored]
    seen: Matrix
    right: Vector
    group: str
    weight: float

    @property
    def field(self) -> str:
        return f"{self.doc_type}.{self.name}"


def examples(documents: Iterable[Labelled]) -> Iterator[Example]:
    for document in documents:
        specs = tuple(FieldSpec(name, _type(name, value)) for name, value in document.fields.items())
        search = Search.of(document.doc_type, specs, document.pages)
        for spec in specs:
            if document.doc_type == "id_card" and spec.name == "full_name":
                continue  # put together from two other fields
            scored = search.candidates(spec)
            if not scored:
                continue
            how = matching.kind_of(spec.name, spec.type)
            truth = document.fields[spec.name]
            right = numpy.array([float(matching.same(how, truth, each.candidate.value)) for each in scored])
            weight = (_REAL if document.real else 1.0) * (1.0 if right.any() else _UNFOUND)
            kind = search.rules[spec.name].kind
            yield Example(
                document.doc_type,
                spec.name,
                kind,
                scored,
                features.matrix(scored),
                right,
                document.group,
                weight,
            )


def _type(name: str, value: str) -> FieldType:
    return matching.type_of(name, [value])


def with_noise(documents: Iterable[Labelled], seed: int = 1) -> Iterator[Labelled]:
    """Each drawn document as it is, and as a scan of it might be read."""
    for number, document in enumerate(documents):
        yield document
        if not document.real and all(page.source == Source.TEXT_LAYER for page in document.pages):
            random = Random(f"{seed}/{number}")
            pages = tuple(_sure(spoiled(page, random)) for page in document.pages)
            yield Labelled(document.doc_type, document.fields, pages, document.group, False)


def _sure(page: PageText) -> PageText:
    """Made-up confidences would teach that a reader's doubt means nothing."""
    return replace(page, words=tuple(replace(word, confidence=_SURE) for word in page.words))


def fit(known: Sequence[Example], start: scorer.Weights | None = None) -> scorer.Weights:
    """Weights by kind, near what the rules say, and by field, near their kind's; with `start` near those."""
    kinds, fields = (dict(start.kinds), dict(start.fields)) if start else ({}, {})
    for kind in sorted({each.kind for each in known}):
        own = [each for each in known if each.kind == kind]
        weights, more = _fit_kind(own, start or scorer.Weights({}, {}))
        kinds[kind] = weights
        fields |= more
    return scorer.Weights(kinds, fields)


def _fit_kind(
    known: Sequence[Example], start: scorer.Weights
) -> tuple[tuple[Vector, float], dict[str, tuple[Vector, float]]]:
    """A softmax over candidates and "nothing", by gradient steps (Adam) on all examples at once."""
    names = sorted({each.field for each in known})
    known = sorted(known, key=lambda each: each.field)
    stacked, starts, right, which, weight = _stacked(known, names)
    begins = numpy.searchsorted(which, numpy.arange(len(names)))
    weight_of_row = numpy.repeat(weight, _sizes(starts, len(stacked)))
    prior = numpy.append(*(start.kinds.get(known[0].kind) or scorer.PRIOR))
    shape = (len(names) + 1, stacked.shape[1])
    own_prior = numpy.zeros((len(names), shape[1]))
    for row, name in enumerate(names):
        if name in start.fields:
            own_prior[row] = numpy.append(*start.fields[name])
    found = numpy.zeros(shape)  # row 0: away from the prior; the others: away from row 0
    first, second = numpy.zeros(shape), numpy.zeros(shape)
    total = weight.sum()
    # Drawn pages alone may not move a kind far from what people who saw real ones wrote into the rules.
    caution = 1.0 if any(each.weight > 1 for each in known) else _CAUTION
    for step in range(1, _STEPS + 1):
        weights = prior + found[0] + own_prior + found[1:]
        logits = numpy.einsum("ij,ij->i", stacked, weights[which])
        pull = _gradient(logits, starts, right) * weight_of_row
        by_field = numpy.add.reduceat(stacked * pull[:, None], begins)
        gradient = numpy.vstack([by_field.sum(axis=0), by_field]) / total
        gradient[0] += caution * _TO_PRIOR * found[0]
        gradient[1:] += caution * _TO_KIND * found[1:]
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        found -= _RATE * (first / (1 - 0.9**step)) / (numpy.sqrt(second / (1 - 0.999**step)) + 1e-8)
    weights = prior + found[0]
    differ = own_prior + found[1:]
    own = {name: (differ[row][:-1], float(differ[row][-1])) for row, name in enumerate(names)}
    return (weights[:-1], float(weights[-1])), own


def _stacked(
    known: Sequence[Example], names: Sequence[str]
) -> tuple[Matrix, numpy.typing.NDArray[numpy.int64], Vector, numpy.typing.NDArray[numpy.int64], Vector]:
    """All candidates under each other; after each example's a row for "nothing" with its own column."""
    rows, right, which, starts, at = [], [], [], [], 0
    for each in known:
        count, width = each.seen.shape
        block = numpy.zeros((count + 1, width + 1))
        block[:count, :width] = each.seen
        block[count, width] = 1.0
        rows.append(block)
        right.append(numpy.append(each.right, 0.0 if each.right.any() else 1.0))
        which.extend([names.index(each.field)] * (count + 1))
        starts.append(at)
        at += count + 1
    weight = numpy.array([each.weight for each in known])
    return numpy.vstack(rows), numpy.array(starts), numpy.concatenate(right), numpy.array(which), weight


def _sizes(starts: numpy.typing.NDArray[numpy.int64], total: int) -> numpy.typing.NDArray[numpy.int64]:
    return numpy.diff(numpy.append(starts, total))


def _gradient(logits: Vector, starts: numpy.typing.NDArray[numpy.int64], right: Vector) -> Vector:
    """Of minus the logarithm of what the right candidates have together."""
    sizes = _sizes(starts, len(logits))
    top = numpy.repeat(numpy.maximum.reduceat(logits, starts), sizes)
    raised = numpy.exp(logits - top)
    every = numpy.repeat(numpy.add.reduceat(raised, starts), sizes)
    good = numpy.repeat(numpy.maximum(numpy.add.reduceat(raised * right, starts), 1e-12), sizes)
    found: Vector = raised / every - raised * right / good
    return found


# --- calibration


def fold_of(group: str) -> int:
    return zlib.crc32(group.encode()) % FOLDS


def held_out(known: Sequence[Example]) -> list[tuple[Example, scorer.Ranking, bool]]:
    """What the scorer chooses in each fold when it has learnt from the others."""
    found = []
    for number in range(FOLDS):
        weights = fit([each for each in known if fold_of(each.group) != number])
        for each in known:
            if fold_of(each.group) == number:
                ranking = _rank(each, weights)
                found.append((each, ranking, _is_right(each, ranking)))
    return found


def _rank(each: Example, weights: scorer.Weights) -> scorer.Ranking:
    own, nothing = weights.of(each.doc_type, each.name, each.kind)
    return scorer.ranked(each.scored, each.seen, each.seen @ own, nothing)


def _is_right(each: Example, ranking: scorer.Ranking) -> bool:
    values = {one.candidate.value for one, right in zip(each.scored, each.right, strict=True) if right}
    return ranking.best.value in values


def fit_calibration(chosen: Sequence[tuple[Example, scorer.Ranking, bool]]) -> dict[str, Vector]:
    """A logistic regression over all kinds, under "", and by kind near that one."""
    everything = _logistic(chosen, numpy.zeros(len(calibrate.SIGNALS)), 1e-3)
    found = {"": everything}
    for kind in sorted({each.kind for each, _, _ in chosen}):
        found[kind] = _logistic([one for one in chosen if one[0].kind == kind], everything, 0.01)
    return {kind: weights * _SHRINK for kind, weights in found.items()}


def _logistic(
    chosen: Sequence[tuple[Example, scorer.Ranking, bool]], prior: Vector, to_prior: float
) -> Vector:
    seen = numpy.array([calibrate.signals(ranking) for _, ranking, _ in chosen])
    right = numpy.array([float(good) for _, _, good in chosen])
    # A value that is not among the candidates teaches the scorer less, but on a real page it is as wrong as
    # any other. Of drawn pages that were spoilt this is not said: they misread more than a reader does.
    weight = numpy.array([_REAL if each.weight > 1 else each.weight for each, _, _ in chosen])
    weight = weight / weight.sum()
    found = prior.copy()
    for _ in range(40):  # Newton: ten numbers
        share = 1 / (1 + numpy.exp(-numpy.clip(seen @ found, -30, 30)))
        gradient = seen.T @ (weight * (share - right)) + to_prior * (found - prior)
        curve = (seen * (weight * share * (1 - share))[:, None]).T @ seen + (to_prior + 1e-9) * numpy.eye(
            len(found)
        )
        found = found - numpy.linalg.solve(curve, gradient)
    return found


# --- all of it


def train(folders: Sequence[Path], into: Path = models.PACKAGED, readings: Path | None = None) -> str:
    """Write the weights anew, from labelled folders, drawn samples and prints; says how it went."""
    known = [*examples(documents(folders, readings))]
    chosen = held_out(known)
    write(into / f"{NAME}.npz", fit(known), fit_calibration(chosen))
    right = sum(good for _, _, good in chosen)
    return f"{len(known)} fields, {right} of them right where their layout was held out"


def documents(folders: Sequence[Path], readings: Path | None = None) -> Iterator[Labelled]:
    """Real documents as they are; drawn and written ones also as they might be read from scans."""
    yield from _real(folders, readings)
    with tempfile.TemporaryDirectory() as work:
        yield from with_noise(_drawn(Path(work)))
    for seed in range(1, _NOISY_PRINTS + 1):
        written = (Labelled(each.doc_type, each.fields, (each.page,), each.name, False) for each in prints())
        yield from with_noise(written, seed)


def _real(folders: Sequence[Path], readings: Path | None) -> Iterator[Labelled]:
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
                    yield Labelled(document.doc_type, fields, pages, group, True)


def _drawn(work: Path) -> Iterator[Labelled]:
    kinds = [kind for kind in samples.KINDS if kind not in ("packet", "other")]
    for sample in samples.write(
        work, seed=_SEED, count=_DRAWN, forms=("digital",), kinds=kinds, layouts="training"
    ):
        for document in sample.documents:
            pages = tuple(reading(sample.path, index, None) for index in document.page_indices)
            fields = {name: value for name, value in document.fields.items() if value}
            yield Labelled(document.doc_type, fields, pages, f"{document.doc_type} {document.layout}", False)


# --- weights


def arrays(
    weights: scorer.Weights, calibration: dict[str, Vector]
) -> dict[str, numpy.typing.NDArray[numpy.generic]]:
    """As they are stored."""
    kinds, fields = sorted(weights.kinds), sorted(weights.fields)
    return {
        "features": numpy.array(features.NAMES),
        "kinds": numpy.array(kinds),
        "kind_weights": numpy.array([weights.kinds[kind][0] for kind in kinds], dtype=numpy.float32),
        "kind_nothing": numpy.array([weights.kinds[kind][1] for kind in kinds], dtype=numpy.float32),
        "fields": numpy.array(fields),
        "field_weights": numpy.array([weights.fields[name][0] for name in fields], dtype=numpy.float32),
        "field_nothing": numpy.array([weights.fields[name][1] for name in fields], dtype=numpy.float32),
        "signals": numpy.array(calibrate.SIGNALS),
        "calibration_kinds": numpy.array(sorted(calibration)),
        "calibration": numpy.array([calibration[kind] for kind in sorted(calibration)], dtype=numpy.float32),
    }


def write(path: Path, weights: scorer.Weights, calibration: dict[str, Vector]) -> None:
    numpy.savez_compressed(path, **arrays(weights, calibration))  # type: ignore[arg-type]  # numpy's stub
