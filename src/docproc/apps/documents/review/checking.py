"""What is wrong or odd about what a person is typing, told while they type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from docproc.apps.documents.review import typed
from docproc.apps.documents.review.extraction import schema_of
from docproc.apps.documents.schemas import SchemaField
from docproc.apps.documents.texts import text
from docproc.apps.documents.texts.names import field_name
from docproc.apps.documents.understanding import validate
from docproc.apps.documents.understanding.extract import field_rules
from docproc.apps.documents.understanding.extract.checks import problem
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.engine.store.task_tables import BackofficeTask
from docproc.people.kinds import asked
from docproc.reading.page import Source

EXAMPLES = {
    "integer": ("1250", "1250"),
    "decimal": ("1250.00", "1.250,00"),
    "date": ("2026-03-12", "12/03/2026"),
}
# One mark and groups of three digits: thousands, in the convention of whoever types.
_THOUSANDS = {"es": re.compile(r"-?\d{1,3}(\.\d{3})+"), "en": re.compile(r"-?\d{1,3}(,\d{3})+")}
# Signs of rules as people write them.
_SIGNS = (("==", "="), ("<=", "≤"), (">=", "≥"), (" * ", " × "))


@dataclass
class Findings:
    """By field: `problems` hold an answer up, `doubts` are only said. `hints` are about several fields."""

    problems: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)  # as answers are written
    hints: list[str] = field(default_factory=list)


def shown(value: str | None, type_: str, language: str) -> str:
    """A value as people of that language write it."""
    if not value or language != "es":
        return value or ""
    if type_ == "decimal":
        return value.replace(".", ",")
    if type_ == "date" and (parts := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", value)):
        return f"{parts[3]}/{parts[2]}/{parts[1]}"
    return value


def check(
    task: BackofficeTask, said: Mapping[str, Any], rules_of_type: Sequence[str], language: str
) -> Findings:
    """`said` has what is typed in fields that differ from what was read."""
    schema, findings, machine = schema_of(task), Findings(), _machine(task)
    for name, one in schema.items():
        if one.type == "table":
            continue
        if name in said:
            _check_typed(one, said[name], language, findings)
        elif name in (asked(task).get("review") or ()):
            _check_value(one, machine.get(name), language, findings)
    values = {**machine, **findings.values}
    for rule in rules_of_type:
        if _is_broken(rule, schema, values) and not findings.problems.keys() & set(field_rules.named(rule)):
            findings.hints.append(text(language, "doubt_rule", rule=readable_rule(rule, language)))
    return findings


def _check_typed(schema: SchemaField, written: Any, language: str, findings: Findings) -> None:
    plain = _plain(schema, written, language)
    try:
        read = typed.read(schema, plain, decimal_comma=language == "es")
    except typed.MistypedError as error:
        findings.problems[schema.name] = _trouble(schema, error.code, language)
    else:
        _check_value(schema, read, language, findings)


def _check_value(schema: SchemaField, value: str | None, language: str, findings: Findings) -> None:
    """A value as answers are written."""
    if value is None and schema.required:
        findings.problems[schema.name] = text(language, "is_required")
        return
    findings.values[schema.name] = value
    if value is not None and (doubt := _doubt(schema.spec, value)):
        findings.doubts[schema.name] = text(language, doubt)


def _plain(schema: SchemaField, written: Any, language: str) -> Any:
    if schema.type not in ("decimal", "integer") or not isinstance(written, str):
        return written
    if _THOUSANDS[language].fullmatch(written.strip()):
        return re.sub(r"[.,]", "", written)
    return written


def _trouble(schema: SchemaField, code: str, language: str) -> str:
    """What is wrong, in the person's language, with an example where there is one."""
    example = EXAMPLES.get(schema.type, ("", ""))[language == "es"]
    return text(language, code, example=example)


def _doubt(spec: FieldSpec, value: str) -> str | None:
    """The key of what is odd about a value that can be."""
    failed = next((kind for kind in spec.validators if validate.check(kind, value)), None)
    if failed in ("date_not_future", "positive", "currency"):
        return {"date_not_future": "doubt_future"}.get(failed, f"doubt_{failed}")
    if failed:
        return "doubt_check_digits" if failed in validate.CHECK_DIGITS else "doubt_shape"
    if problem(spec, value):
        return "doubt_bounds" if spec.min or spec.max else "doubt_shape"
    return None


# --- rules --------------------------------------------------------------------------------------------------


def _machine(task: BackofficeTask) -> dict[str, Any]:
    """What was read, as answers are written; tables as rows."""
    return {name: one.get("value") for name, one in (asked(task).get("fields") or {}).items()}


def _is_table(value: Any) -> bool:
    return isinstance(value, list)


def _is_broken(rule: str, schema: Mapping[str, SchemaField], values: Mapping[str, Any]) -> bool:
    answers = {name: _as_found(value) for name, value in values.items() if name in schema}
    specs = [one.spec for one in schema.values()]
    return field_rules.holds(rule, field_rules.values_of(specs, answers)) is False


def _as_found(value: Any) -> FieldValue | None:
    if value is None:
        return None
    written = json.dumps(_texts(value)) if _is_table(value) else str(value)
    return FieldValue(written, 1.0, Source.OPERATOR, 0, None)


def _texts(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str | None]]:
    return [
        {name: None if cell is None else str(cell) for name, cell in row.items()}
        for row in rows
        if isinstance(row, Mapping)
    ]


def readable_rule(rule: str, language: str) -> str:
    """`net_amount + (x or 0) == total_amount` → `Net amount + X = Total`."""
    plain = re.sub(r"\(?\b(\w+) or 0\)?", r"\1", rule)
    plain = re.sub(r"abs\(([^()]*)\)", r"\1", plain)
    plain = re.sub(r"sum\(\w+\.(\w+)\)", r"Σ \1", plain)
    plain = re.sub(r"[a-z]\w*", lambda word: _word(word[0], language), plain)
    for sign, written in _SIGNS:
        plain = plain.replace(sign, written)
    return plain


def _word(word: str, language: str) -> str:
    if word in ("or", "and"):
        return {"or": "o", "and": "y"}[word] if language == "es" else word
    return field_name(language, word)
