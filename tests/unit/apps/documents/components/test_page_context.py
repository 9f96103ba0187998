"""Questions about single pages that other pages, or people on earlier ones, have answered already."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from docproc.apps.documents.components import type_memory
from docproc.apps.documents.components.page_context import in_context
from docproc.apps.documents.components.page_jobs import LOOKS, Found, classify_all
from docproc.apps.documents.tables import PageStatus
from docproc.apps.documents.understanding.classify import Classification
from docproc.apps.documents.understanding.page_marks import marks
from docproc.reading import page as page_text
from docproc.reading.plain_text import page_of

BILL = "Aguas de Fontelar, S.A.\nFACTURA\nNº factura: 2026/871\nTotal factura 48,90 €\nPágina 1 de 2"
READINGS = "Histórico de lecturas\n12/01/2026 1204 Real\nPágina 2 de 2"


def row(index: int, status: PageStatus, doc_type: str | None = None, said: Any = None) -> Any:
    return SimpleNamespace(
        page_index=index, file_index=0, status=status, doc_type=doc_type, classification_confidence=0.97,
        origin=None, marks=said,
    )  # fmt: skip


def unsure(text: str) -> Found:
    looks = {"other": 0.55, "invoice": 0.3, "bank_statement": 0.15}
    return Classification("other", 0.55, looks), {**marks(page_of(text)), LOOKS: looks}


def test_doubtful_page_is_sure_beside_the_page_it_continues() -> None:
    known = row(0, PageStatus.CLASSIFIED, "invoice", {**marks(page_of(BILL)), LOOKS: {"invoice": 0.97}})
    rows = [known, row(1, PageStatus.READ)]
    assert in_context(rows, {1: unsure(READINGS)}, None)[1] > 0.8


def test_doubtful_page_stays_so_while_its_neighbours_are_unknown() -> None:
    rows = [row(0, PageStatus.READ), row(1, PageStatus.READ)]
    assert in_context(rows, {1: unsure(READINGS)}, None).get(1, 0.0) < 0.7


def test_pages_of_no_known_type_settle_nothing_for_each_other() -> None:
    letter = row(0, PageStatus.CLASSIFIED, "other", {LOOKS: {"other": 0.97}})
    assert 1 not in in_context([letter, row(1, PageStatus.READ)], {1: unsure("Recibo o contrato")}, None)


def test_what_a_page_may_be_is_kept_for_its_neighbours() -> None:
    ((kind, said),) = classify_all([(None, BILL, {})])
    assert said[LOOKS][kind.doc_type] == round(kind.confidence, 4)
    assert all(share >= 0.002 for share in said[LOOKS].values())


HEAD = (
    "Cooperativa Valdemora\nCIF: A14891576\nCamino del Molino 4, 49001 Zamora\n"
    "Tel. 980 123 456 www.valdemora.example\n"
)


def packed(text: str) -> bytes:
    return page_text.pack(page_of(text))


def test_type_that_a_person_gave_is_remembered_by_issuer() -> None:
    seen = packed(f"{HEAD}LIQUIDACIÓN DE COSECHA\nSocio: Ana Gil\nKilos entregados 12.400\nPrecio medio 0,31")
    lesson = type_memory.lesson(seen, datetime(2026, 3, 1, tzinfo=UTC))
    again = packed(
        f"{HEAD}LIQUIDACIÓN DE COSECHA\nSocio: Luis Paz\nKilos entregados 9.120\nPrecio medio 0,29"
    )
    stranger = packed("Bodegas Ordal\nCIF: B16596447\nLIQUIDACIÓN\nSocio: Luis Paz\nKilos 9.120")
    told = [("invoice", lesson.example)]
    assert type_memory.remembered([(again, told), (stranger, told), (again, [])]) == ["invoice", None, None]


def test_remembered_type_counts_as_nearly_sure() -> None:
    kind, said = type_memory.as_remembered(unsure(READINGS), "invoice")
    assert kind.doc_type == "invoice" and kind.confidence == 0.95
    assert abs(sum(kind.scores.values()) - 1) < 0.2 and said[LOOKS] == {"invoice": 0.95}
