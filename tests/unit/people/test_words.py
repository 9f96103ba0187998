"""Words of the station that no catalogue holds: names, reasons and values."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from docproc.apps.documents.review import checking, reasons
from docproc.apps.documents.texts import names
from docproc.apps.documents.understanding import classify
from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.texts import LANGUAGES

WORKFLOWS = Path(__file__).parents[3] / "config" / "workflows"


def test_types_and_fields_that_come_with_docproc_have_names() -> None:
    for language in LANGUAGES:
        assert [name for name in classify.TYPES if names.known(language, name) is None] == []
    for path in WORKFLOWS.glob("*.yaml"):
        schemas = yaml.safe_load(path.read_text(encoding="utf-8"))["extraction_schemas"]
        for schema in schemas.values():
            fields = [field["name"] for field in schema["fields"]]
            assert [name for name in fields if names.known("es", name) is None] == []
    assert names.field_name("es", "invoice_number") == "Número de factura"
    assert names.field_name("es", "engine_size") == "engine size"


REASONS = [
    (Reason(Code.RULE_BROKEN, {"rule": "net_amount + (tax_amount or 0) == total_amount", "said": ""}), "es",
     "Esto no cuadra: Importe neto + IVA = Importe total"),
    (Reason(Code.RULE_BROKEN, {"rule": "date <= due_date", "said": "date 2026-01-01"}), "en",
     "This does not add up: Date ≤ Due date"),
    (Reason(Code.SOURCES_DIFFER, {"first": "qr_code", "value": "12.00", "second": "page", "other": "13.00"}),
     "es", "Según el código QR es 12.00; según la página, 13.00."),
    (Reason(Code.PATTERN, {"value": "X1", "field": "invoice_number"}), "es",
     "X1 no está escrito como debe estarlo el campo «Número de factura»."),
    # Stored before there were codes.
    ("Something old.", "es", "No encaja con lo que cabía esperar."),
    ("Something old.", "en", "Something old."),
    (None, "es", ""),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "language", "told"), REASONS)
def test_reason_is_told_in_the_language_of_the_person(
    reason: Reason | str | None, language: str, told: str
) -> None:
    assert reasons.told(reason, language) == told


SHOWN = [
    ("1250.00", "decimal", "es", "1250,00"), ("1250.00", "decimal", "en", "1250.00"),
    ("2026-03-12", "date", "es", "12/03/2026"), ("2026-03-12", "date", "en", "2026-03-12"),
    ("1.2", "string", "es", "1.2"), (None, "decimal", "es", ""),
]  # fmt: skip


@pytest.mark.parametrize(("value", "kind", "language", "shown"), SHOWN)
def test_values_are_shown_as_people_write_them(
    value: str | None, kind: str, language: str, shown: str
) -> None:
    assert checking.shown(value, kind, language) == shown
