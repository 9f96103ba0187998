"""A page that is unlike all that was trained on is not answered surely, whatever the classifier says."""

from __future__ import annotations

import numpy
import pytest

from docproc.apps.documents.understanding import page_doubt
from docproc.apps.documents.understanding.classify import classify
from docproc.reading.plain_text import page_of


def test_doubt_mixes_the_answer_with_not_knowing() -> None:
    mixed = page_doubt.mixed({"invoice": 0.01, "other": 0.98, "receipt": 0.01}, 0.4)
    assert sum(mixed.values()) == pytest.approx(1.0)
    assert mixed["other"] == pytest.approx(0.6 * 0.98 + 0.4 / 2)
    assert mixed["invoice"] > 0.1


def test_doubt_is_neither_none_nor_all() -> None:
    seen = page_doubt.signs({"other": 1.0}, {}, {}, 0, 0)
    assert len(seen) == page_doubt.WIDTH
    assert 0 < page_doubt.share(numpy.full(page_doubt.WIDTH, -50.0, dtype=numpy.float32), seen) < 0.01
    assert 0.5 < page_doubt.share(numpy.full(page_doubt.WIDTH, 50.0, dtype=numpy.float32), seen) < 1


UNLIKE = {
    "gibberish": "Wlorp zinte kravu moltest\nplindo verrak tusim 44\nhobrel quantig fesdor\n"
    "grimpa lostev 12 brukal\nsertiva moplan drekko viltas hundrim polcane\nwestorb limpat 9 sorvind kleptu",
    "a crossword": "Horizontales\n1 Ave nocturna 2 Río de Asia 3 Símbolo del cobre\nVerticales\n"
    "1 Al revés, altar\n2 Nota musical 3 Consonantes iguales 4 Vocal repetida\nSolución al anterior",
}


@pytest.mark.parametrize("name", UNLIKE)
def test_page_unlike_all_training_has_a_low_confidence(name: str) -> None:
    found = classify(page_of(UNLIKE[name]))
    assert found.confidence < 0.8, found


def test_page_like_those_trained_on_stays_sure() -> None:
    found = classify(
        page_of(
            "Vega S.L. CIF B16596447\nFACTURA\nNº factura: A-1001\nFecha de factura: 12/03/2026\n"
            "Cliente: Ana Gil\nCantidad Descripción Importe\n2 Tornillos 50,00\nBase imponible 100,00\n"
            "IVA 21 % 21,00\nTotal factura 121,00 €"
        )
    )
    assert found.doc_type == "invoice" and found.confidence > 0.9
