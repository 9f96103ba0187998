"""The small expression language of `when:` and `accepts:`: facts in, yes or no out, and no side effects."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from simpleeval import EvalWithCompoundTypes, InvalidExpression

from docproc.engine.message import PipelineMessage
from docproc.errors import PermanentError

NAMES = ("payload", "unit_key", "priority", "tenant_id", "workflow_name", "attempt")
# What `accepts:` may ask of a request that names no workflow.
REQUEST_NAMES = ("metadata", "channel", "tenant_id", "external_id", "priority")
FUNCTIONS = {"int": int, "float": float, "str": str, "len": len}

_PROGRAMS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)


class _Fields(dict[str, Any]):
    """A payload in which an absent field reads as None, so that `payload.x == 1` never crashes."""

    def __missing__(self, key: str) -> None:
        return None


class _Evaluator(EvalWithCompoundTypes):  # type: ignore[misc] # simpleeval is untyped
    """simpleeval, with `payload.field` allowed to mean `payload["field"]` at any depth."""

    def _eval_attribute(self, node: ast.Attribute) -> Any:
        owner = self._eval(node.value)
        if isinstance(owner, dict):
            return owner.get(node.attr)
        if owner is None:
            return None
        return super()._eval_attribute(node)


def check(expression: str, names: tuple[str, ...] = NAMES, key: str = "when") -> None:
    """Raise ValueError when the expression cannot be read or names something unknown."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"{key}: {expression!r} is not an expression ({error.msg})") from error
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in (FUNCTIONS if id(node) in called else names):
            raise ValueError(f"{key}: unknown name {node.id!r}; use one of {', '.join(names)}")
        if isinstance(node, _PROGRAMS):
            raise ValueError(f"{key}: write a plain comparison, without loops or functions of your own")


@lru_cache(maxsize=512)
def _parsed(expression: str) -> Any:
    return _Evaluator.parse(expression)


def holds(expression: str, message: PipelineMessage) -> bool:
    """Whether `when:` is true of the message; a condition that fails is a permanent error."""
    names = {name: getattr(message, name) for name in NAMES} | {"payload": _Fields(message.payload)}
    return _decide("when", expression, names)


def accepts(expression: str, facts: Mapping[str, Any]) -> bool:
    """Whether `accepts:` is true of a request (REQUEST_NAMES)."""
    return _decide("accepts", expression, {**facts, "metadata": _Fields(facts["metadata"])})


def _decide(key: str, expression: str, names: Mapping[str, Any]) -> bool:
    evaluator = _Evaluator(names=dict(names), functions=dict(FUNCTIONS))  # copies: it adds its own
    try:
        return bool(evaluator.eval(expression, previously_parsed=_parsed(expression)))
    except (InvalidExpression, ArithmeticError, TypeError, ValueError, LookupError) as error:
        raise PermanentError(
            f"{key}: {expression!r} cannot be decided: {error}",
            remedy="Correct the workflow file and submit the request again: a replay keeps its version",
        ) from error
