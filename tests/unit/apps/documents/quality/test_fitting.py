"""Fitting: the same data gives the same weights, and a folder of examples is enough for a new type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy
import pytest

from docproc.apps.documents.quality import labels
from docproc.apps.documents.quality.fitting import classifier, noise, packed, page_set, scoring, softmax
from docproc.apps.documents.quality.fitting.classifier import Pages
from docproc.apps.documents.quality.fitting.labelled import LabelledPage
from docproc.apps.documents.quality.fitting.page_set import Spread
from docproc.apps.documents.understanding import models, page_evidence, page_features
from docproc.apps.documents.understanding.classify import MODEL, classify
from docproc.apps.documents.understanding.classify import packed as packed_weights
from docproc.apps.documents.understanding.page_features import Names
from docproc.errors import ConfigurationError
from docproc.reading.plain_text import page_of

POLICY = (
    "PÓLIZA DE CAZA\nTomador: {n}\nCoto número {n}\nEspecies: jabalí, corzo\nVeda hasta el {n} de octubre"
)
INVOICE = "FACTURA\nCliente {n}\nBase imponible {n},00\nCuota IVA 21 % {n},21\nTotal factura {n},21"
LETTER = "Madrid, {n} de mayo\nEstimada señora\nLe escribimos para contarle que todo sigue igual\nAtentamente"


def pages(texts: dict[str, str], numbers: Sequence[int], *, real: bool = False) -> list[LabelledPage]:
    return [
        LabelledPage(page_of(text.format(n=number)), kind, f"{kind} {number}", is_real=real)
        for kind, text in texts.items()
        for number in numbers
    ]


@pytest.fixture(scope="module")
def few() -> list[LabelledPage]:
    return pages({"invoice": INVOICE, "other": LETTER}, range(1, 15))


def gathered(learnt: Sequence[LabelledPage], held_back: Sequence[LabelledPage]) -> Pages:
    return Pages(page_set.of(learnt), page_set.of(held_back), Spread().add(learnt))


def write(folder: Path, **arrays: numpy.typing.NDArray[numpy.generic]) -> None:
    numpy.savez_compressed(folder / f"{MODEL}.npz", **arrays)  # type: ignore[arg-type] # numpy's stub


def test_fit_finds_what_tells_classes_apart() -> None:
    vectors = numpy.array([[1, 0, 1], [1, 1, 0], [1, 0, 1], [1, 1, 0]], dtype=numpy.float32)
    targets = numpy.eye(2, dtype=numpy.float32)[[0, 1, 0, 1]]
    weights = softmax.fit(vectors, targets, numpy.ones(4, dtype=numpy.float32))
    assert (softmax.probabilities(vectors @ weights.T).argmax(axis=1) == [0, 1, 0, 1]).all()
    assert (weights == softmax.fit(vectors, targets, numpy.ones(4, dtype=numpy.float32))).all()


def test_temperature_widens_what_was_too_sure() -> None:
    logits = numpy.array([[4.0, 0.0]] * 10, dtype=numpy.float32)
    truth = numpy.array([0] * 7 + [1] * 3)
    wide = softmax.temperature(logits, truth)
    assert softmax.probabilities(logits / numpy.float32(wide))[0, 0] == pytest.approx(0.7, abs=0.03)


def test_examples_of_a_new_type_add_it(few: list[LabelledPage], tmp_path: Path) -> None:
    new = pages({"hunting_policy": POLICY}, range(5, 13), real=True)
    weights = classifier.fit(gathered([*few, *new], [*few[::5], *new[:2]]))
    write(tmp_path, **packed_weights(weights))
    page = page_of(POLICY.format(n=99))
    with models.using(tmp_path):
        assert classify(page).doc_type == "hunting_policy"
    assert "hunting_policy" not in classify(page).scores


def test_weights_of_another_version_are_not_used(few: list[LabelledPage], tmp_path: Path) -> None:
    weights = classifier.fit(gathered(few, few[::5]))
    write(tmp_path, **{**packed_weights(weights), "weights": weights.weights[:, :-3]})
    page = page_of("FACTURA\nBase imponible 1,00\nTotal factura 1,21")
    packaged = classify(page)
    with models.using(tmp_path):
        assert classify(page) == packaged


def test_a_set_of_pages_has_the_vectors_that_the_classifier_sees(few: list[LabelledPage]) -> None:
    names = Names(page_evidence.TYPES, page_evidence.PHRASES, ("cliente", "factura", "madrid"))
    columns = page_features.columns_of(names)
    seen = [
        page_features.vector(each.page, page_evidence.tell(each.page.text), columns, names) for each in few
    ]
    assert (page_set.of(few).matrix(names.words) == numpy.stack(seen)).all()


def test_what_people_sent_is_one_source() -> None:
    drawn = pages({"other": LETTER}, (1, 2))
    sent = pages({"other": LETTER}, (3, 4, 5), real=True)
    spread = Spread().add(drawn).add(sent)
    assert (spread.sources["madrid"], spread.pages["madrid"]) == (3, 5)
    assert "madrid" in spread.words(3, 5) and not spread.words(4, 1) and not spread.words(1, 6)


def test_noise_keeps_a_page_readable(few: list[LabelledPage]) -> None:
    page = few[0].page
    spoiled = noise.spoiled(page, Random(1))
    assert 0.5 * len(page.text) < len(spoiled.text) <= 1.1 * len(page.text) + 5


# --- what comes packed


def test_pages_come_out_as_they_were_packed(few: list[LabelledPage], tmp_path: Path) -> None:
    learnt, held_back = page_set.of(few), page_set.of(few[::5])
    spread = Spread().add(few)
    packed.write_pages(packed.PackedPages(learnt, held_back, spread), tmp_path / "pages.npz")
    again = packed.pages(tmp_path / "pages.npz")
    words = spread.words(2, 1)
    assert again.spread.words(2, 1) == words and again.learnt.doc_types == learnt.doc_types
    assert numpy.allclose(again.learnt.matrix(words), learnt.matrix(words), atol=2e-3)
    assert numpy.allclose(again.held_back.matrix(words), held_back.matrix(words), atol=2e-3)


def test_what_is_packed_fits_the_evidence_and_features_of_this_version() -> None:
    """When this fails, evidence or features changed: `make train ARGS="--only packed"`, and train anew."""
    pages = packed.pages()
    assert set(pages.learnt.doc_types) == set(pages.held_back.doc_types) == set(page_evidence.TYPES)
    fields = packed.fields()
    assert {each.doc_type for each in fields} == set(page_evidence.TYPES) - {"other"}
    assert all(len(each.seen) == len(each.right) for each in fields)
    weights = scoring.fit([each for each in fields if each.kind == "date"])
    assert list(weights.kinds) == ["date"]


def test_what_was_packed_for_other_evidence_is_refused(tmp_path: Path) -> None:
    with numpy.load(packed.PAGES) as file:
        stored = dict(file)
    stored["phrases"] = stored["phrases"][1:]
    numpy.savez(tmp_path / "pages.npz", **stored)
    with pytest.raises(ConfigurationError, match="made for other phrases"):
        packed.pages(tmp_path / "pages.npz")


def test_golden_samples_are_a_labelled_folder(tmp_path: Path) -> None:
    packed.unpack_golden(tmp_path)
    (folder,) = labels.read([tmp_path])
    assert {document.doc_type for file in folder.files for document in file.documents} == set(
        page_evidence.TYPES
    )
