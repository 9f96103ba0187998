"""What is asked of a document, and what is answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from docproc.apps.documents.understanding.reason import Reason
from docproc.reading.page import Box, Source

ColumnType = Literal["string", "decimal", "date"]
FieldType = Literal["string", "integer", "decimal", "date", "table"]


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A column of a table. `labels` are its headings, beside those that are known for its name."""

    name: str
    type: ColumnType = "string"
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A field as a workflow's `extraction_schemas` names it. `labels` add to what is known of the field."""

    name: str
    type: FieldType = "string"
    required: bool = False
    labels: tuple[str, ...] = ()
    # What a right value looks like; see `validate.problem`.
    validators: tuple[str, ...] = ()
    pattern: str | None = None
    one_of: tuple[str, ...] = ()
    min: str | None = None  # written as values are: `1250.00`, `2026-03-12`
    max: str | None = None
    columns: tuple[ColumnSpec, ...] = ()  # of a table


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: a value for each column, None where it has none, written as `FieldValue.value` is."""

    cells: tuple[str | None, ...]
    confidence: float
    page: int
    box: Box


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A value found, as it is written: `1250.00`, `1250`, `2026-03-12`, texts as printed, tables as JSON."""

    value: str
    confidence: float
    source: Source
    page: int  # its position among the pages that were given
    box: Box | None
    reason: Reason | None = None  # why a person should look at it, where that is more than a low confidence
    rows: tuple[Row, ...] = ()  # of a table
    confirmed: bool = False  # a person said so of this very value on an earlier document of the same issuer
