"""The documents' kinds of tasks: their words in both languages, and what two readers are compared by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from docproc.apps.documents.application import application
from docproc.apps.documents.review.classification import SplitAnswer, TypeAnswer
from docproc.apps.documents.review.extraction import FieldsAnswer
from docproc.apps.documents.review.kinds import classification, extraction
from docproc.engine.store.task_tables import BackofficeTask
from docproc.people.kinds import Listed, TaskKinds

KINDS = TaskKinds(application.task_kinds)
SPLIT = {
    "kind": "split",
    "splits": [{"pages": [1, 2], "suggested": True}, {"pages": [2, 3], "suggested": False}],
}
TYPE = {"page_index": 1, "suggested_type": "invoice", "confidence": 0.619}
FIELDS = {
    "doc_type": "invoice",
    "page_indices": [0],
    "schema": [{"name": "total_amount", "type": "decimal"}, {"name": "invoice_number"}, {"name": "iban"}],
    "fields": {"total_amount": {"value": "12.50"}, "iban": {"value": "ES91"}},
    "review": ["total_amount", "invoice_number"],
}


def task(task_type: str, seen: dict[str, Any]) -> BackofficeTask:
    return BackofficeTask(id=uuid4(), task_type=task_type, input_data=seen)


def test_manifest_names_the_kinds() -> None:
    assert KINDS.skills == ("classification", "extraction")
    assert (KINDS["classification"], KINDS["extraction"]) == (classification, extraction)
    assert [KINDS.usual_seconds(skill) for skill in (*KINDS.skills, "appraisal")] == [45, 90, 90]
    assert [KINDS.skill_name(skill, "es") for skill in KINDS.skills] == ["clasificación", "extracción"]
    assert all(set(kind.title) == {"en", "es"} and all(kind.title.values()) for kind in KINDS)


@pytest.mark.parametrize(
    ("asked", "language", "listed"),
    [
        (task("classification", TYPE), "en", Listed("Type of a page", "Invoice (61 %)?", "", "page 2")),
        (task("classification", TYPE), "es",
         Listed("Tipo de una página", "¿Factura (61 %)?", "", "página 2")),
        (task("classification", SPLIT), "en",
         Listed("Where documents begin", "2 to decide", "", "pages 2–4")),
        (task("extraction", FIELDS), "en", Listed("Fields of a document", "Invoice", "2 to check", "page 1")),
        (task("extraction", {}), "en", Listed("Fields of a document", "?", "0 to check", "")),
        (task("customs_form", {}), "en", Listed("customs form")),
    ],
)  # fmt: skip
def test_task_is_listed_by_what_it_asks(asked: BackofficeTask, language: str, listed: Listed) -> None:
    found = KINDS.listed(asked, language)
    assert replace(found, together="") == listed
    together = f"/packets/{asked.request_id}" if asked.task_type == "classification" else ""
    assert found.together == together


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("iban", "IBAN"), ("doc_type", "Type"), ("doc_type:2", "Type (page 3)"),
        ("begins:3", "A document begins (page 4)"), ("page.3", "page 4"), ("split", "Where documents begin"),
        ("bank_statement", "Bank statement"), ("engine_size", "engine size"),
    ],
)  # fmt: skip
def test_things_that_change_have_names(what: str, name: str) -> None:
    assert KINDS.name_of(what, "en") == name


def test_types_are_said_in_words() -> None:
    assert KINDS.say("doc_type", "invoice", "es") == "Factura"
    assert KINDS.say("doc_type", "delivery_note", "en") == "delivery note"
    assert KINDS.say("invoice_number", "A_1", "en") is None


ANSWER = FieldsAnswer({"total_amount": "12.50", "iban": "ES00"})


@pytest.mark.parametrize(
    ("named", "is_sampled", "again"),
    [
        ((), False, None),
        (("iban",), False, ["iban"]),  # changed
        (("invoice_number",), False, ["invoice_number"]),  # doubtful
        (("vendor_name",), False, None),
        ((), True, ["total_amount", "invoice_number"]),
        (("iban",), True, ["total_amount", "invoice_number", "iban"]),
    ],
)
def test_second_reader_is_asked_what_was_decided(
    named: tuple[str, ...], is_sampled: bool, again: list[str] | None
) -> None:
    asked = task("extraction", FIELDS)
    assert extraction.read_again(asked, ANSWER, named, is_sampled=is_sampled) == again


def test_answers_are_compared_by_what_they_mean() -> None:
    asked = task("extraction", FIELDS)
    assert extraction.meant(asked, ANSWER.output()) == {"total_amount": "12.50", "iban": "ES00"}
    assert extraction.spoken_of(asked, ANSWER) == ["total_amount", "iban"]
    assert extraction.is_same(asked, "total_amount", "12.50", "12.5")
    assert not extraction.is_same(asked, "total_amount", "12.50", None)
    assert extraction.is_same(asked, "invoice_number", None, "")
    places = task("classification", SPLIT)
    said = SplitAnswer({2: True, 3: False})
    assert classification.meant(places, said.output()) == {"begins:2": True, "begins:3": False}
    assert not classification.is_same(places, "begins:3", False, None)
    page = task("classification", TYPE)
    assert classification.spoken_of(page, TypeAnswer("letter")) == ["doc_type"]
    assert classification.read_again(page, TypeAnswer("letter"), ["doc_type"], is_sampled=False) is None
