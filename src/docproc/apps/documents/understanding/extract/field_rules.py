"""Rules between fields (`net_amount + tax_amount == total_amount`): decided, and weighed into confidences.

A rule is an expression on field names. Amounts agree within two cents; numbers are exact decimals. `(x or 0)`
stands for x, or for 0 where x was not found; a rule that names another missing field says nothing.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from math import prod
from typing import Any

from simpleeval import DEFAULT_OPERATORS, EvalWithCompoundTypes, InvalidExpression

from docproc.apps.documents.understanding.extract.checks import SUREST
from docproc.apps.documents.understanding.extract.labels import known_sums
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.reading.folding import fold

Found = Mapping[str, FieldValue | None]

TOLERANCE = Decimal("0.02")
# How often a rule is broken although all its values are right: discounts, rounding, a line of its own.
_EXCEPTIONS = 0.02
# How often it holds although a value is wrong. The search has used known sums already, so they count once
# more only a little; nothing has looked at other sums; most wrong dates are in order, too.
_BY_CHANCE = {"known sum": 0.5, "sum": 0.05, "order": 0.9}
_NOTICEABLE = 0.1  # a field that a broken rule moves less than this is not to blame

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "len": lambda values: Decimal(len(values)),
    "max": max,
    "min": min,
    "sum": lambda values: sum(values, Decimal(0)),
}
_ALLOWED = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub,
    ast.Mult, ast.Div, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Name, ast.Load,
    ast.Constant, ast.Call, ast.Attribute, ast.IfExp,
)  # fmt: skip
# Tables that are found by the amounts which a rule then compares them with.
_FROM_SUMS = ("tax_breakdown",)
_SAMPLES = {"decimal": Decimal(1), "integer": Decimal(1), "date": date(2026, 3, 12), "string": "text"}


def weigh(rules: Sequence[str], fields: Sequence[FieldSpec], answers: Found) -> dict[str, FieldValue | None]:
    """The values with the confidence that the rules leave them, and a reason where one is broken."""
    weighed = dict(answers)
    for rule in rules:
        involved = {name: value for name in named(rule) if (value := weighed.get(name)) is not None}
        outcome = holds(rule, values_of(fields, weighed))
        if outcome is not None and involved:
            weighed |= _held(rule, involved) if outcome else _broken(rule, involved)
    return weighed


def _held(rule: str, involved: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    chance = _BY_CHANCE[_kind(rule, involved)]
    all_right = prod(value.confidence for value in involved.values())
    return {
        name: replace(value, confidence=max(value.confidence, min(SUREST, posterior)))
        for name, value in involved.items()
        if not value.reason  # a person looks at it whatever adds up
        and (
            posterior := (all_right + chance * (value.confidence - all_right))
            / (all_right + chance * (1 - all_right))
        )
    }


def _broken(rule: str, involved: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    """By Bayes: not all of them are right, or this document is an exception. The least sure lose most."""
    all_right = prod(value.confidence for value in involved.values())
    said = ", ".join(f"{name} {_shown(value)}" for name, value in involved.items())
    # A table that misses a row must not cast doubt on a total.
    suspects = {name: value for name, value in involved.items() if value.rows} or involved
    changed = {}
    for name, value in suspects.items():
        exception = _EXCEPTIONS * all_right
        posterior = (exception + value.confidence - all_right) / (exception + 1 - all_right)
        if posterior < value.confidence - _NOTICEABLE:
            reason = value.reason or Reason(Code.RULE_BROKEN, {"rule": rule, "said": said})
            changed[name] = replace(value, confidence=max(posterior, 0.0), reason=reason)
    return changed


def _shown(value: FieldValue) -> str:
    return f"({len(value.rows)} rows)" if value.rows else value.value


def _kind(rule: str, involved: Mapping[str, FieldValue]) -> str:
    equalities = [node for node in ast.walk(_parsed(rule)) if isinstance(node, ast.Eq)]
    if not equalities or len(involved) < 2:
        return "order"
    return "known sum" if {*known_sums(), *_FROM_SUMS}.issuperset(involved) else "sum"


# --- the language


def holds(rule: str, values: Mapping[str, Any]) -> bool | None:
    """Whether the rule is true of the values; None where a field it needs is missing or unreadable."""
    tree = _parsed(rule)
    if any(values.get(name) is None for name in _needed(tree)):
        return None
    try:
        return bool(_Evaluator(names=values, functions=dict(FUNCTIONS)).eval(rule, tree.body))
    except (InvalidExpression, ArithmeticError, TypeError, ValueError, LookupError):
        return None


def check(rule: str, types: Mapping[str, str], columns: Mapping[str, Mapping[str, str]]) -> None:
    """Raise ValueError when the rule cannot be read, names an unknown field or compares what cannot be."""
    try:
        tree = _parsed(rule)
    except SyntaxError as error:
        raise ValueError(f"{rule!r} is not an expression ({error.msg})") from error
    for node in ast.walk(tree):
        _check_node(rule, node, types, columns)
    values = {name: _SAMPLES[type_] for name, type_ in types.items() if type_ in _SAMPLES}
    tables = {
        name: {column: (_SAMPLES[type_],) for column, type_ in of.items()} for name, of in columns.items()
    }
    try:
        answer = _Evaluator(names={**values, **tables}, functions=dict(FUNCTIONS)).eval(rule, tree.body)
    except (InvalidExpression, TypeError, ValueError, LookupError) as error:
        raise ValueError(f"{rule!r} cannot be decided: {error}") from error
    except ArithmeticError:
        return  # a division by nothing, of sample values
    if not isinstance(answer, bool):
        raise ValueError(f"{rule!r} is neither true nor false; compare two things, such as a + b == c")


def _check_node(
    rule: str, node: ast.AST, types: Mapping[str, str], columns: Mapping[str, Mapping[str, str]]
) -> None:
    if not isinstance(node, _ALLOWED):
        raise ValueError(f"{rule!r}: write sums and comparisons of fields only")
    if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS):
        raise ValueError(f"{rule!r}: there are only the functions {', '.join(FUNCTIONS)}")
    if isinstance(node, ast.Name) and node.id not in types and node.id not in FUNCTIONS:
        raise ValueError(f"{rule!r}: no field is called {node.id!r}; there are {', '.join(types)}")
    if isinstance(node, ast.Attribute):
        of = columns.get(node.value.id if isinstance(node.value, ast.Name) else "", {})
        if node.attr not in of:
            raise ValueError(f"{rule!r}: no table has a column {node.attr!r}; there are {', '.join(of)}")


@lru_cache(maxsize=512)
def _parsed(rule: str) -> ast.Expression:
    return ast.parse(rule.strip(), mode="eval")


@lru_cache(maxsize=512)
def named(rule: str) -> tuple[str, ...]:
    """The fields a rule speaks of, in its order."""
    variables = [node for node in ast.walk(_parsed(rule)) if isinstance(node, ast.Name)]
    ordered = sorted(variables, key=lambda node: (node.lineno, node.col_offset))
    return tuple(dict.fromkeys(node.id for node in ordered if node.id not in FUNCTIONS))


def _needed(tree: ast.Expression) -> set[str]:
    """The fields without which the rule says nothing: all but those with a substitute, `(x or 0)`."""
    spared = {
        id(value)
        for node in ast.walk(tree)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
        for value in node.values[:-1]
    }
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in FUNCTIONS]
    return {node.id for node in names if id(node) not in spared}


def values_of(fields: Sequence[FieldSpec], answers: Found) -> dict[str, Any]:
    """The values as rules see them: decimals, dates, texts; None for what is missing or unreadable."""
    types = {field.name: field for field in fields}
    return {
        name: _typed(types[name], value) if value is not None and name in types else None
        for name, value in answers.items()
    }


def _typed(spec: FieldSpec, value: FieldValue) -> Any:
    if spec.type != "table":
        return _plain(spec.type, value.value)
    rows = json.loads(value.value)
    # A column with a gap has no sum.
    columns = {
        column.name: [_plain(column.type, row.get(column.name)) for row in rows] for column in spec.columns
    }
    return {name: tuple(cells) for name, cells in columns.items() if None not in cells}


def _plain(type_: str, value: str | None) -> Any:
    if value is None or type_ == "string":
        return value
    try:
        return Decimal(value) if type_ in ("decimal", "integer") else date.fromisoformat(value)
    except (InvalidOperation, ValueError):
        return None


class _Evaluator(EvalWithCompoundTypes):  # type: ignore[misc] # simpleeval is untyped
    """simpleeval on exact decimals, with amounts that agree within the tolerance."""

    def __init__(self, names: Mapping[str, Any], functions: dict[str, Callable[..., Any]]) -> None:
        super().__init__(
            operators={**DEFAULT_OPERATORS, **_COMPARISONS}, functions=functions, names=dict(names)
        )

    def _eval_constant(self, node: ast.Constant) -> Any:
        value = node.value
        return (
            Decimal(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value
        )

    def _eval_name(self, node: ast.Name) -> Any:
        return self.names.get(node.id)  # an absent field that has a substitute

    def _eval_attribute(self, node: ast.Attribute) -> Any:
        return self._eval(node.value)[node.attr]  # a column of a table


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, Decimal) and isinstance(second, Decimal):
        return abs(first - second) <= TOLERANCE
    if isinstance(first, str) and isinstance(second, str):
        return _letters(first) == _letters(second)
    if type(first) is not type(second):
        raise TypeError(f"{_type_name(first)} is compared with {_type_name(second)}")
    return bool(first == second)


def _letters(text: str) -> Iterable[str]:
    return re.findall(r"[a-z0-9]", fold(text))


def _type_name(value: Any) -> str:
    names = {Decimal: "a decimal", date: "a date", str: "a text", tuple: "a column"}
    return names.get(type(value), "nothing")


def _ordered(compare: Callable[[Any, Any], bool], *, or_equal: bool) -> Callable[[Any, Any], bool]:
    def compared(first: Any, second: Any) -> bool:
        # Within the tolerance two amounts are equal, so neither is less.
        if isinstance(first, Decimal) and isinstance(second, Decimal) and abs(first - second) <= TOLERANCE:
            return or_equal
        return compare(first, second)

    return compared


_COMPARISONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Eq: _equal,
    ast.NotEq: lambda first, second: not _equal(first, second),
    ast.Lt: _ordered(operator.lt, or_equal=False),
    ast.LtE: _ordered(operator.le, or_equal=True),
    ast.Gt: _ordered(operator.gt, or_equal=False),
    ast.GtE: _ordered(operator.ge, or_equal=True),
}
