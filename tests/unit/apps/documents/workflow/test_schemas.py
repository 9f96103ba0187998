"""extraction_schemas: validators, bounds, tables and rules, refused with a place where they cannot work."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from docproc.apps.documents.schemas import ExtractionSchema, SchemaField
from docproc.apps.documents.understanding.extract.spec import ColumnSpec, FieldSpec
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.errors import WorkflowError
from tests.unit.engine.workflow.flows import COMPONENTS, MODEL, TOPOLOGY

COLUMNS = [{"name": "text"}, {"name": "amount", "type": "decimal", "labels": {"es": ["importe"]}}]


def field(**values: Any) -> SchemaField:
    return SchemaField.model_validate({"name": "x", **values})


def test_labels_of_all_languages_count() -> None:
    assert field(labels=["a", "b"]).spec.labels == ("a", "b")
    assert field(labels={"es": ["póliza", "nº"], "en": ["policy", "nº"]}).spec.labels == (
        "póliza",
        "nº",
        "policy",
    )


def test_whole_field_as_the_extraction_asks_for_it() -> None:
    assert field(type="decimal", min=0, max=10.5, required=True, validators=["positive"]).spec == FieldSpec(
        "x", "decimal", True, validators=("positive",), min="0", max="10.5"
    )
    assert field(type="date", min=date(2020, 1, 1)).spec.min == "2020-01-01"
    assert field(type="table", columns=COLUMNS).spec.columns == (
        ColumnSpec("text"),
        ColumnSpec("amount", "decimal", ("importe",)),
    )


def test_schema_reads_back_from_its_stored_version() -> None:
    fields = [
        {"name": "a", "labels": {"es": ["x"]}, "pattern": r"\d+"},
        {"name": "b", "type": "date", "max": date(2030, 1, 1)},
        {"name": "c", "type": "table", "columns": COLUMNS},
        {"name": "d", "type": "decimal"},
    ]
    schema = ExtractionSchema.model_validate({"fields": fields, "rules": ["sum(c.amount) == d"]})
    assert ExtractionSchema.model_validate_json(schema.model_dump_json(exclude_none=True)) == schema


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"validators": ["shoe_size"]}, "no validator is called 'shoe_size'; there are amount"),
        ({"validators": ["positive"]}, "for fields of type `decimal`"),
        ({"type": "decimal", "validators": ["iban"]}, "for fields of type `string`"),
        ({"pattern": "("}, "not a regular expression"),
        ({"type": "date", "pattern": "x"}, "`pattern` and `one_of`"),
        ({"min": 1}, "`min` and `max`"),
        ({"type": "date", "min": 1}, "is not a date"),
        ({"type": "decimal", "max": "many"}, "is not a decimal"),
        ({"type": "table"}, "has `columns`"),
        ({"required": True, "review": False}, "cannot have `review: false`"),
        ({"columns": COLUMNS}, "has `columns`"),
        ({"type": "table", "columns": [COLUMNS[0], COLUMNS[0]]}, "listed twice: text"),
    ],
)
def test_senseless_fields_are_refused(values: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        field(**values)


FLOW = """\
name: flow
stages: [{name: a, component: work}]
extraction_schemas:
  invoice:
    fields:
      - {name: net, type: decimal}
      - {name: total, type: decimal}
    rules:
      - net <= total
      - net + tax == total
"""


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (FLOW, 10, "'net + tax == total': no field is called 'tax'; there are net, total"),
        (FLOW.replace("+ tax", "+"), 10, "is not an expression"),
        (
            FLOW.replace("total, type: decimal", "total, validators: [shoe]"),
            7,
            "no validator is called 'shoe'",
        ),
        (FLOW.replace("net <= total", "net"), 9, "neither true nor false"),
    ],
)
def test_errors_name_file_line_and_remedy(text: str, line: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(WorkflowError) as caught:
        WorkflowLoader(tmp_path, COMPONENTS, TOPOLOGY, model=MODEL).plan("flow")
    assert caught.value.line == line and says in str(caught.value) and caught.value.remedy
