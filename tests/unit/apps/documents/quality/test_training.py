"""Training: the same data gives the same weights, and a folder of examples is enough for a new type."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy
import pytest

from docproc.apps.documents.quality.training import classifier, made_up, noise, softmax
from docproc.apps.documents.quality.training.classifier import Pages
from docproc.apps.documents.quality.training.examples import Example
from docproc.apps.documents.quality.training.packets import packets
from docproc.apps.documents.understanding.classify import MODEL, classify, packed
from docproc.reading.plain_text import page_of

POLICY = (
    "PÓLIZA DE CAZA\nTomador: {n}\nCoto número {n}\nEspecies: jabalí, corzo\nVeda hasta el {n} de octubre"
)


@pytest.fixture(scope="module")
def few() -> list[Example]:
    random = Random(7)
    return [
        Example(page, kind, f"{kind} {number}")
        for kind in made_up.POOLS
        for number, page in enumerate(made_up.pages(kind, 14, random))
    ]


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


def test_examples_of_a_new_type_add_it(few: list[Example], tmp_path: Path) -> None:
    new = [
        Example(page_of(POLICY.format(n=n)), "hunting_policy", f"file {n}", is_real=True)
        for n in range(5, 13)
    ]
    weights = classifier.fit(Pages([*few, *new], [*few[::5], *new[:2]]))
    with (tmp_path / f"{MODEL}.npz").open("wb") as file:
        numpy.savez_compressed(file, **packed(weights))  # type: ignore[arg-type] # arrays only
    page = page_of(POLICY.format(n=99))
    assert classify(page, models=tmp_path).doc_type == "hunting_policy"
    assert "hunting_policy" not in classify(page).scores


def test_weights_of_another_version_are_not_used(few: list[Example], tmp_path: Path) -> None:
    weights = classifier.fit(Pages(few, few[::5]))
    old = {**packed(weights), "weights": weights.weights[:, :-3]}
    with (tmp_path / f"{MODEL}.npz").open("wb") as file:
        numpy.savez_compressed(file, **old)  # type: ignore[arg-type] # arrays only
    page = page_of("FACTURA\nBase imponible 1,00\nTotal factura 1,21")
    assert classify(page, models=tmp_path) == classify(page)


def test_made_up_pages_are_the_same_every_time() -> None:
    one, other = (made_up.pages("invoice", 9, Random(3)) for _ in range(2))
    assert one == other
    assert len({page.text for page in one}) == 9


def test_noise_keeps_a_page_readable(few: list[Example]) -> None:
    page = few[0].page
    spoiled = noise.spoiled(page, Random(1))
    assert 0.5 * len(page.text) < len(spoiled.text) <= 1.1 * len(page.text) + 5


def test_packets_have_documents_of_one_and_more_pages(tmp_path: Path) -> None:
    made = [pages for packet in packets(tmp_path, 6, "training", Random(5)) for _, pages in packet]
    assert {1, 2} <= {len(pages) for pages in made}
