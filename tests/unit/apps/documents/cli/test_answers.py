"""Answers as people read them."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from docproc.apps.documents.cli import answers

INVOICE: dict[str, Any] = {
    "doc_type": "invoice",
    "page_indices": [0, 1],
    "extracted_data": {
        "total_amount": 121.0,
        "invoice_number": None,
        "date": "2025-01-31",
        "vendor_name": None,
    },
    "extraction_confidence": 0.0,
    "status": "completed",
    "fields": {
        "total_amount": {"value": "121.00", "confidence": 0.999, "page": 1},
        "date": {"value": "2025-01-31", "confidence": 0.41, "page": 0, "reason": "the QR code says 30"},
    },
    "needs_review": ["invoice_number", "date"],
}
STATUS: dict[str, Any] = {
    "request_id": "84a47d02-ce9b-4da8-8ccb-1963c8961a05",
    "status": "completed",
    "workflow_name": "default",
    "created_at": "2026-01-01T10:00:00Z",
    "deadline_utc": None,
    "completed_at": "2026-01-01T10:00:01.500000Z",
    "page_count": 2,
    "document_count": 1,
    "result": {"documents": [INVOICE], "files": [], "missing": []},
    "error": None,
}


def said(status: dict[str, Any], name: str = "in.pdf") -> list[str]:
    console = Console(file=StringIO(), width=200)
    console.print(answers.render(name, status))
    assert isinstance(console.file, StringIO)
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]


def test_answer_names_documents_and_marks_what_is_doubtful_or_missing() -> None:
    assert said(STATUS) == [
        "in.pdf completed default · 2 pages · 1.5 s",
        f"request {STATUS['request_id']}",
        "1. invoice pages 1–2 0 % to be checked",
        "total_amount 121.00 99 % page 2",
        "✗ invoice_number not found",
        "? date 2025-01-31 41 % page 1 the QR code says 30",
        "vendor_name –",
    ]


def test_problems_notes_and_missing_units_are_told_with_the_error() -> None:
    files = [
        {"name": "a.pdf", "page_count": 3, "problem": None, "notes": ["repaired"]},
        {"name": "b.pdf", "page_count": 1, "problem": "it is damaged", "notes": []},
    ]
    missing = [{"unit": "page:3", "reason": "failed", "detail": "b.pdf: it is damaged"}]
    result = {"documents": [], "files": files, "missing": missing}
    failed = {**STATUS, "status": "failed", "result": result, "error": {"code": "x", "message": "no result"}}
    assert said(failed)[1:] == [
        "no result",
        f"request {STATUS['request_id']}",
        "a.pdf pages 1–3 repaired",
        "b.pdf page 4 it is damaged",
        "✗ no result for page 4: b.pdf: it is damaged",
    ]


def test_names_and_values_of_documents_are_never_markup() -> None:
    document = {**INVOICE, "doc_type": "[red]x[/]", "fields": {"date": {**INVOICE["fields"]["date"]}}}
    document["fields"]["date"]["value"] = "[/nope]"
    text = "\n".join(said({**STATUS, "result": {"documents": [document]}}, "[bold]in.pdf"))
    assert "[bold]in.pdf" in text and "[red]x[/]" in text and "[/nope]" in text


def test_request_without_a_result_is_one_line() -> None:
    running = {**STATUS, "status": "processing", "completed_at": None, "page_count": None, "result": None}
    assert said(running) == ["in.pdf processing default"]


@pytest.mark.parametrize(
    ("indices", "text"),
    [([], "no page"), ([0], "page 1"), ([2, 3, 4], "pages 3–5"), ([0, 2], "pages 1, 3")],
)
def test_pages_count_from_one(indices: list[int], text: str) -> None:
    assert answers.pages(indices) == text


def test_only_certainty_is_hundred_per_cent() -> None:
    assert [answers.percent(c) for c in (1.0, 0.999, 0.29, 0.0)] == ["100 %", "99 %", "29 %", "0 %"]


@pytest.mark.parametrize(
    ("unit", "shown"),
    [
        ("page:0", "page 1"),
        ("document:0-1", "the document on pages 1–2"),
        ("document:3-3", "the document on page 4"),
        ("request", "request"),
        ("frame:7", "frame:7"),
    ],
)
def test_units_are_named_as_people_count(unit: str, shown: str) -> None:
    assert answers.readable_unit(unit) == shown


def test_doubts_about_the_document_itself_stand_beside_its_name() -> None:
    unsure = {
        **STATUS["result"]["documents"][0],
        "needs_review": ["doc_type", "boundary"],
        "doc_type_confidence": 0.5571,
        "boundary_confidence": 0.7,
    }
    lines = said({**STATUS, "result": {**STATUS["result"], "documents": [unsure]}})
    assert "1. invoice pages 1–2 0 % to be checked ? type 55 % ? boundary 70 %" in lines
    assert not [line for line in lines if "not found" in line], "they are no fields that are missing"
