"""What is wrong or odd about what a person is typing, told while they type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from docproc.apps.documents.review import tables, typed
from docproc.apps.documents.review.extraction import schema_of
from docproc.apps.documents.schemas import SchemaField
from docproc.apps.documents.texts import text
from docproc.apps.documents.texts.names import field_name
from docproc.apps.documents.understanding import validate
from docproc.apps.documents.understanding.extract import field_rules
from docproc.apps.documents.understanding.extract.checks import problem
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.reason import Code
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
    # Of tables, by column: what it adds up to, and whether that fits what else was read.
    sums: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)


def as_json(findings: Findings) -> dict[str, Any]:
    """For the page's script."""
    return asdict(findings)


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
        if name in said:
            check_one = _check_rows if one.type == "table" else _check_typed
            check_one(one, said[name], language, findings)
        elif name in (asked(task).get("review") or ()) and one.type != "table":
            # Why it is doubtful is told beside it already: nothing is said twice.
            _check_value(one, machine.get(name), language, findings, is_told=_is_explained(task, name))
    values = {**machine, **findings.values}
    broken = [rule for rule in rules_of_type if _is_broken(rule, schema, values)]
    troubled = {key.partition(".")[0] for key in findings.problems}  # of a table, a cell has the problem
    for rule in broken:
        named = set(field_rules.named(rule))
        if not troubled & named and not _is_told(task, rule, said):
            findings.hints.append(text(language, "doubt_rule", rule=readable_rule(rule, language)))
    for one in schema.values():
        if one.type == "table":
            findings.sums[one.name] = _sums(one, values.get(one.name), rules_of_type, broken, language)
    return findings


def _is_explained(task: BackofficeTask, name: str) -> bool:
    return bool(((asked(task).get("fields") or {}).get(name) or {}).get("reason"))


def _is_told(task: BackofficeTask, rule: str, said: Mapping[str, Any]) -> bool:
    """Whether a field that nobody has changed says already that this rule is broken."""
    for name, one in (asked(task).get("fields") or {}).items():
        why = (one or {}).get("why") or {}
        if (
            name not in said
            and why.get("code") == Code.RULE_BROKEN
            and (why.get("facts") or {}).get("rule") == rule
        ):
            return name in (asked(task).get("review") or ())
    return False


def _sums(
    schema: SchemaField, rows: Any, rules: Sequence[str], broken: Sequence[str], language: str
) -> dict[str, dict[str, Any]]:
    """`fits` is None where no rule speaks of the column."""
    found = {}
    for column in tables.summed(schema, rules):
        about = [rule for rule in rules if f"{schema.name}.{column}" in rule]
        fits = not any(rule in broken for rule in about) if about else None
        amount = tables.total(rows if _is_table(rows) else None, column)
        found[column] = {"text": written(amount, language), "fits": fits}
    return found


def written(amount: Decimal, language: str) -> str:
    """An amount as people of that language write it, with its thousands apart."""
    text = f"{amount:,.2f}"
    return text.translate(str.maketrans(",.", ".,")) if language == "es" else text


def _check_rows(schema: SchemaField, rows: Any, language: str, findings: Findings) -> None:
    """Every cell as its column is written; problems are named by cell."""
    types = {column.name: column for column in schema.columns}
    given = [
        {
            name: _plain(types[name].type, cell, language) if name in types else cell
            for name, cell in row.items()
        }
        for row in (rows if _is_table(rows) else ())
        if isinstance(row, Mapping)
    ]
    try:
        findings.values[schema.name] = typed.read(schema, given, decimal_comma=language == "es")
    except typed.MistypedRowsError as error:
        for (number, name), problem in error.cells.items():
            kind = types[name].type if name in types else "string"
            findings.problems[typed.cell_key(schema.name, number, name)] = _trouble(
                kind, problem.code, language
            )
    except typed.MistypedError as error:
        findings.problems[schema.name] = _trouble(schema.type, error.code, language)


def _check_typed(schema: SchemaField, given: Any, language: str, findings: Findings) -> None:
    plain = _plain(schema.type, given, language)
    try:
        read = typed.read(schema, plain, decimal_comma=language == "es")
    except typed.MistypedError as error:
        findings.problems[schema.name] = _trouble(schema.type, error.code, language)
    else:
        _check_value(schema, read, language, findings)


def _check_value(
    schema: SchemaField, value: str | None, language: str, findings: Findings, *, is_told: bool = False
) -> None:
    """A value as answers are written; `is_told`: the page says already what is odd about it."""
    if value is None and schema.required:
        findings.problems[schema.name] = text(language, "is_required")
        return
    findings.values[schema.name] = value
    if value is not None and not is_told and (doubt := _doubt(schema.spec, value)):
        findings.doubts[schema.name] = text(language, doubt)


def _plain(type_: str, given: Any, language: str) -> Any:
    if type_ not in ("decimal", "integer") or not isinstance(given, str):
        return given
    if _THOUSANDS[language].fullmatch(given.strip()):
        return re.sub(r"[.,]", "", given)
    return given


def _trouble(type_: str, code: str, language: str) -> str:
    """What is wrong, in the person's language, with an example where there is one."""
    example = EXAMPLES.get(type_, ("", ""))[language == "es"]
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
