"""Types and boundaries are decided together: a page without words of its own follows its document."""

from __future__ import annotations

import pytest

from docproc.apps.documents.understanding.boundaries import Group, PageKind, group, marks
from docproc.apps.documents.understanding.page_sequence import SequencePage, decide, surely_begins
from docproc.reading.plain_text import page_of

BILL = (
    "Aguas de Fontelar, S.A.\nCIF: A14891576\nFACTURA DE AGUA\nNº factura: 2026/00871\nFecha: 12/03/2026\n"
    "Titular: Ana Gil Romero\nContrato: 5521009834\nCuota de servicio 12,40\nTotal factura 48,90 €\n{foot}"
)
READINGS = (
    "Aguas de Fontelar, S.A.\nTitular: Ana Gil Romero  Contrato: 5521009834\nHistórico de lecturas\n"
    "12/01/2026 1204 Real\n12/11/2025 1188 Real\n12/09/2025 1170 Estimada\n{foot}"
)
LETTER = (
    "Gestoría Landa\nMadrid, 3 de mayo de 2026\nEstimado señor Paz:\nLe escribimos para recordarle la "
    "reunión que tendrá lugar el próximo jueves en nuestras oficinas.\nAtentamente,\nRosa Landa"
)


def page(text: str, doc_type: str, looks: dict[str, float]) -> PageKind:
    return PageKind(doc_type, looks[doc_type], marks(page_of(text)), looks=looks)


def bill(foot: str = "") -> PageKind:
    return page(BILL.format(foot=foot), "invoice", {"invoice": 0.97, "other": 0.02, "receipt": 0.01})


def readings(foot: str = "") -> PageKind:
    """What the classifier says of such a page alone, and how sure it used to be."""
    return page(READINGS.format(foot=foot), "other", {"other": 0.98, "invoice": 0.01, "bank_statement": 0.01})


def letter() -> PageKind:
    return page(LETTER, "other", {"other": 0.98, "contract": 0.02})


def found(groups: list[Group]) -> list[tuple[str, tuple[int, ...]]]:
    return [(one.doc_type, one.places) for one in groups]


@pytest.mark.parametrize("feet", [("Página 1 de 2", "Página 2 de 2"), ("", "")])
def test_page_without_vocabulary_follows_its_document(feet: tuple[str, str]) -> None:
    assert found(group([bill(feet[0]), readings(feet[1])])) == [("invoice", (0, 1))]


def test_page_that_has_nothing_to_do_with_the_one_before_stays_by_itself() -> None:
    assert found(group([bill(), letter(), bill()])) == [
        ("invoice", (0,)),
        ("other", (1,)),
        ("invoice", (2,)),
    ]


def test_type_of_an_unclear_first_page_comes_from_the_pages_that_follow() -> None:
    cover = page(
        "Aguas de Fontelar, S.A.\nPágina 1 de 2\nTitular: Ana Gil Romero",
        "other",
        {"other": 0.6, "invoice": 0.4},
    )
    rest = page(BILL.format(foot="Página 2 de 2"), "invoice", {"invoice": 0.97, "other": 0.03})
    (one,) = group([cover, rest])
    assert (one.doc_type, one.places) == ("invoice", (0, 1))
    assert min(one.sure) > 0.8


def test_running_sum_that_goes_on_overleaf_makes_one_document() -> None:
    first = page("Vega S.L.\nFACTURA\nTornillos 50,00\nSuma y sigue 1.250,40", "invoice", {"invoice": 0.95})
    second = page("Suma anterior 1.250,40\nTuercas 30,00\nArandelas 9,60", "other", {"other": 0.9})
    assert found(group([first, second])) == [("invoice", (0, 1))]


def test_how_sure_a_page_is_counts_what_its_neighbours_say() -> None:
    (one,) = group([bill("Página 1 de 2"), readings("Página 2 de 2")])
    alone = group([readings()])[0]
    assert one.doc_type == "invoice" and one.sure[1] > 0.8
    assert alone.doc_type == "other" and alone.sure[0] == pytest.approx(0.98, abs=0.01)


def test_two_pages_alone_say_where_a_document_surely_begins() -> None:
    card = SequencePage({"id_card": 0.98}, {}, 0.5)
    plain = SequencePage({"other": 0.98}, {}, 0.5)
    invoice = SequencePage({"invoice": 0.98}, {})
    assert surely_begins(invoice, card) > 0.8
    assert surely_begins(invoice, plain) < 0.5  # it may be a page of the invoice


def test_answers_add_up_over_the_sequence() -> None:
    pages = [
        SequencePage({"invoice": 0.9, "other": 0.1}, {}),
        SequencePage({"other": 0.8, "invoice": 0.2}, {}, 0.3),
    ]
    decided = decide(pages)
    assert [one.begins >= 0.5 for one in decided] == [True, False]
    assert {one.doc_type for one in decided} == {"invoice"}
    assert all(0 <= one.sure <= 1 for one in decided)
