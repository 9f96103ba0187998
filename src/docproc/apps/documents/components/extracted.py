"""What was extracted, in the shapes it is stored and answered in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from docproc.apps.documents import reasons
from docproc.apps.documents.components import doubts
from docproc.apps.documents.components.extraction_jobs import Fields
from docproc.apps.documents.schemas import SchemaColumn, SchemaField
from docproc.apps.documents.understanding.extract.spec import FieldValue
from docproc.reading.page import Box


def kept(asked: Sequence[SchemaField], values: Fields, threshold: float) -> Fields:
    """What is answered: of fields nobody is to be asked about, only what is sure."""
    unsure = {
        field.name
        for field in asked
        if not field.review
        and (value := values.get(field.name))
        and doubts.is_below(value.confidence, threshold)
    }
    return {name: None if name in unsure else value for name, value in values.items()}


def _is_doubtful(value: FieldValue, threshold: float) -> bool:
    return doubts.is_below(value.confidence, threshold) or bool(value.reason)


def doubtful(asked: Sequence[SchemaField], values: Fields, threshold: float) -> list[str]:
    """The fields a person should look at: found but not sure or with a reason, or required and not found."""
    names = []
    for field in asked:
        value = values.get(field.name)
        if field.required if value is None else _is_doubtful(value, threshold):
            names.append(field.name)
    return names


def askable(asked: Sequence[SchemaField], names: Sequence[str]) -> list[str]:
    """Those of them that are worth a person's time: the others are only marked."""
    review = {field.name for field in asked if field.review}
    return [name for name in names if name in review]


def least(asked: Sequence[SchemaField], values: Fields) -> float | None:
    """The document is as sure as its least sure field; None where there was nothing to find."""
    return least_of(asked, {name: value.confidence for name, value in values.items() if value})


def least_of(asked: Iterable[SchemaField], confidences: Mapping[str, float]) -> float | None:
    """The same from the confidences of what was found. A required field that is missing counts as 0."""
    sure = [
        confidences.get(field.name, 0.0) for field in asked if field.name in confidences or field.required
    ]
    return round(min(sure), 4) if sure else None


def data(asked: Sequence[SchemaField], values: Fields) -> dict[str, Any]:
    """The specified form: plain values, decimals as JSON numbers; fields without a value are null."""
    return {field.name: _plain(field, values.get(field.name)) for field in asked}


def _plain(field: SchemaField, value: FieldValue | None) -> Any:
    if value is None:
        return None
    if field.type == "table":
        rows = json.loads(value.value)
        return [
            {column.name: plain_value(column, row.get(column.name)) for column in field.columns}
            for row in rows
        ]
    return plain_value(field, value.value)


def plain_value(field: SchemaField | SchemaColumn, value: str | None) -> Any:
    """A value as `extracted_data` has it: numbers as JSON numbers."""
    if value is None:
        return None
    return (
        int(value) if field.type == "integer" else float(Decimal(value)) if field.type == "decimal" else value
    )


def exact(field: SchemaField | None, value: Any) -> str:
    """A plain value as `fields` has it: amounts lose nothing to floating point."""
    is_amount = field is not None and field.type == "decimal" and not isinstance(value, bool)
    return f"{Decimal(str(value)):f}" if is_amount and isinstance(value, int | float) else str(value)


def evidence(values: Fields, indices: Sequence[int]) -> dict[str, Any]:
    """Name -> exact value and where it came from; a table has a list of rows as its value."""
    return {name: _evident(value, indices) for name, value in values.items() if value is not None}


def _evident(value: FieldValue, indices: Sequence[int]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "value": json.loads(value.value) if value.rows else value.value,
        "confidence": round(value.confidence, 4),
        "source": value.source.value,
        "page": indices[value.page],
        "box": _rounded(value.box),
    }
    if value.reason:
        told |= reasons.as_json(value.reason)
    if value.rows:
        told["rows"] = [
            {"confidence": round(row.confidence, 4), "page": indices[row.page], "box": _rounded(row.box)}
            for row in value.rows
        ]
    return told


def _rounded(box: Box | None) -> list[float] | None:
    return [round(edge, 4) for edge in box] if box else None
