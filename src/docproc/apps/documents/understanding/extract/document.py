"""The fields of one document: what the print says, then what stronger evidence and checks make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from docproc.apps.documents.understanding.extract import (
    checks,
    field_rules,
    ladder,
    line_items,
    search,
    tax_breakdown,
)
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.reading.page import PageText

if TYPE_CHECKING:
    from docproc.apps.documents.understanding.memory import Example


def extract(
    doc_type: str,
    fields: Sequence[FieldSpec],
    pages: Sequence[PageText],
    rules: Sequence[str] = (),
    examples: Sequence[Example] = (),
) -> dict[str, FieldValue | None]:
    """The fields of one document, from its pages in order; all asked for are answered, None: not found.

    `rules` must be true between the fields. `examples` are earlier documents that people reviewed and that
    may look like this one.
    """
    return check(fields, rules, gather(doc_type, fields, pages, examples))


def gather(
    doc_type: str, fields: Sequence[FieldSpec], pages: Sequence[PageText], examples: Sequence[Example] = ()
) -> dict[str, FieldValue | None]:
    """What all evidence says, before anything is checked; kept apart so that a model can be asked first."""
    values = find(doc_type, fields, pages)
    if examples:
        from docproc.apps.documents.understanding.memory import recall  # it builds on this package

        values = recall(doc_type, fields, pages, values, examples)
    return ladder.climb(doc_type, fields, pages, values)


def find(
    doc_type: str, fields: Sequence[FieldSpec], pages: Sequence[PageText]
) -> dict[str, FieldValue | None]:
    """What the print says."""
    plain = [field for field in fields if field.type != "table"]
    values = search.find(doc_type, plain, pages)
    for field in fields:
        if field.type == "table":
            finder = tax_breakdown.find if field.name == tax_breakdown.NAME else line_items.find
            values[field.name] = finder(field, pages)
    return {field.name: values[field.name] for field in fields}


def check(
    fields: Sequence[FieldSpec], rules: Sequence[str], values: Mapping[str, FieldValue | None]
) -> dict[str, FieldValue | None]:
    """Each value by itself, then what must be true between them; to be done once."""
    by_itself = {field.name: checks.checked(field, values.get(field.name)) for field in fields}
    return field_rules.weigh(rules, fields, by_itself)
