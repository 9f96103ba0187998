"""Answers as a row per field, for programs: every field is there, and no text becomes a formula."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from docproc.apps.documents.exports.fields_csv import COLUMNS, as_csv

RESULT: dict[str, Any] = {
    "documents": [
        {
            "doc_type": "invoice",
            "page_indices": [0, 1],
            "extracted_data": {"invoice_number": "F-1", "total_amount": 1250.5, "date": None},
            "extraction_confidence": 0.81,
            "status": "completed",
            "needs_review": ["doc_type", "date"],
            "doc_type_confidence": 0.55,
            "boundary_confidence": 0.97,
            "fields": {
                "invoice_number": {
                    "value": "F-1",
                    "confidence": 0.98,
                    "source": "text",
                    "page": 0,
                    "box": None,
                },
                "total_amount": {"value": "1250.50", "confidence": 0.81, "source": "ocr", "page": 1},
            },
        },
        {"doc_type": "other", "page_indices": [2], "extracted_data": {}, "fields": {}},
    ]
}


def rows(result: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(result).decode(), newline="")))


def test_csv_has_one_row_per_field() -> None:
    found = rows(RESULT)
    assert list(found[0]) == list(COLUMNS)
    assert found[0] == {
        "document": "0", "doc_type": "invoice", "pages": "0 1", "field": "invoice_number", "value": "F-1",
        "confidence": "0.98", "source": "text", "page": "0",
        "doc_type_confidence": "0.55", "boundary_confidence": "0.97", "needs_review": "doc_type, date",
    }  # fmt: skip
    assert [(row["field"], row["value"]) for row in found] == [
        ("invoice_number", "F-1"), ("total_amount", "1250.50"), ("date", ""), ("", ""),
    ]  # fmt: skip


TABLE: dict[str, Any] = {
    "documents": [
        {
            "doc_type": "invoice",
            "page_indices": [0],
            "extracted_data": {
                "total": 3.0, "items": [{"text": "Silla", "amount": 1.5}, {"text": "=1", "amount": None}],
            },
            "fields": {
                "items": {
                    "value": [{"text": "Silla", "amount": "1.50"}, {"text": "=1", "amount": None}],
                    "confidence": 0.7, "source": "ocr", "page": 0,
                    "rows": [{"confidence": 0.9, "page": 0}, {"confidence": 0.8, "page": 1}],
                },
            },
        },
    ]
}  # fmt: skip


def test_cells_of_a_table_are_rows_in_csv() -> None:
    found = [(row["field"], row["value"], row["confidence"], row["page"]) for row in rows(TABLE)]
    assert found == [
        ("total", "3.0", "", ""),
        ("items[0].text", "Silla", "0.9", "0"),
        ("items[0].amount", "1.50", "0.9", "0"),
        ("items[1].text", "'=1", "0.8", "1"),
        ("items[1].amount", "", "0.8", "1"),
    ]


def with_value(value: Any) -> dict[str, Any]:
    found = {"value": value, "confidence": 1, "source": "ocr", "page": 0}
    return {"documents": [{"doc_type": "invoice", "page_indices": [0], "fields": {"x": found}}]}


@pytest.mark.parametrize("value", ["=1+1", "+34 600 000", "-cmd|'/c'!A1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_stay_text(value: str) -> None:
    assert rows(with_value(value))[0]["value"] == f"'{value}"


@pytest.mark.parametrize("value", ["-12.50", "+3", "1.250,00", "-1,5"])
def test_negative_numbers_are_left_alone(value: str) -> None:
    assert rows(with_value(value))[0]["value"] == value


@pytest.mark.parametrize("result", [{}, {"documents": None}, {"words": 3}, [1], "x"])
def test_answers_of_other_applications_have_no_rows(result: Any) -> None:
    assert rows(result) == []
