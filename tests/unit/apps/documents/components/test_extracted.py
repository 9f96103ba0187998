"""What was extracted, as it is answered: exact strings beside plain numbers, tables as rows."""

from __future__ import annotations

from dataclasses import replace

from docproc.apps.documents.components import extracted
from docproc.apps.documents.schemas import SchemaColumn, SchemaField
from docproc.apps.documents.understanding.extract.spec import FieldValue, Row
from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.reading.page import Source

ITEMS = SchemaField(
    name="items",
    type="table",
    review=False,
    columns=(SchemaColumn(name="text"), SchemaColumn(name="amount", type="decimal")),
)
TOTAL = SchemaField(name="total", type="decimal", required=True)
BOX = (0.1, 0.2, 0.30001, 0.4)
WRONG_SUM = Reason(Code.RULE_BROKEN, {"rule": "a == b", "said": "a 1, b 2"})
FOUND = {
    "items": FieldValue(
        '[{"text": "Silla", "amount": "10.00"}, {"text": "Mesa", "amount": null}]', 0.5, Source.OCR, 1, BOX,
        rows=(Row(("Silla", "10.00"), 0.9, 1, BOX), Row(("Mesa", None), 0.5, 1, BOX)),
    ),
    "total": FieldValue("10.10", 0.9, Source.OCR, 0, None, WRONG_SUM),
}  # fmt: skip


def test_amounts_are_numbers_in_the_data_and_exact_strings_in_the_evidence() -> None:
    assert extracted.data([ITEMS, TOTAL], FOUND) == {
        "items": [{"text": "Silla", "amount": 10.0}, {"text": "Mesa", "amount": None}],
        "total": 10.1,
    }
    evidence = extracted.evidence(FOUND, [4, 7])
    assert evidence["total"] == {
        "value": "10.10", "confidence": 0.9, "source": "ocr", "page": 4, "box": None,
        "reason": "a == b does not hold: a 1, b 2.",
        "why": {"code": "rule_broken", "facts": {"rule": "a == b", "said": "a 1, b 2"}},
    }  # fmt: skip
    assert evidence["items"]["value"] == [
        {"text": "Silla", "amount": "10.00"},
        {"text": "Mesa", "amount": None},
    ]
    assert evidence["items"]["rows"][0] == {"confidence": 0.9, "page": 7, "box": [0.1, 0.2, 0.3, 0.4]}


def test_reason_asks_a_person_whatever_the_confidence() -> None:
    assert extracted.doubtful([TOTAL], FOUND, 0.75) == ["total"]
    assert extracted.doubtful([TOTAL], {"total": None}, 0.75) == ["total"]
    assert extracted.least([TOTAL], FOUND) == 0.9


def test_field_without_review_is_told_when_it_is_sure_and_left_out_when_not() -> None:
    unsure = extracted.kept([ITEMS, TOTAL], FOUND, 0.75)
    assert unsure == {"items": None, "total": FOUND["total"]}
    assert extracted.doubtful([ITEMS], unsure, 0.75) == []
    assert extracted.data([ITEMS], unsure) == {"items": None}
    assert extracted.kept([ITEMS, TOTAL], FOUND, 0.5) == FOUND


def test_field_without_review_is_marked_for_its_reason_but_asks_nobody() -> None:
    odd = {
        "items": replace(FOUND["items"], confidence=0.9, reason=WRONG_SUM),
        "total": FOUND["total"],
    }
    assert extracted.kept([ITEMS, TOTAL], odd, 0.75) == odd
    doubtful = extracted.doubtful([ITEMS, TOTAL], odd, 0.75)
    assert doubtful == ["items", "total"]
    assert extracted.askable([ITEMS, TOTAL], doubtful) == ["total"]


def test_missing_required_field_pulls_the_document_down() -> None:
    date = SchemaField(name="date", type="date")
    sure = {"date": replace(FOUND["total"], value="2026-01-01", confidence=0.99, reason=None)}
    assert extracted.least([date], sure) == 0.99
    assert extracted.least([date, TOTAL], sure) == 0.0
    assert extracted.least_of([date, TOTAL], {"date": 1.0}) == 0.0
    assert extracted.least_of([date], {}) is None
