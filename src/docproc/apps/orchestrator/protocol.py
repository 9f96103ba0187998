"""The protocol's reference page: its tables are made from the models, so that they cannot differ.

`python -m docproc.apps.orchestrator.protocol` writes them into docs/reference/orchestrator.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docproc.apps.orchestrator.envelope import kinds
from docproc.apps.orchestrator.envelope.errors import REMEDIES, Code
from docproc.apps.orchestrator.envelope.models import IMMUTABLE, Envelope, Metadata
from docproc.apps.orchestrator.plans.building import PlanStep
from docproc.apps.orchestrator.services.catalogue import SPECIFIED

PAGE: Final = Path("docs/reference/orchestrator.md")


def _fields(model: type[BaseModel]) -> str:
    lines = ["| field | needed | schema |", "|---|---|---|"]
    schema = model.model_json_schema()
    for name, field in model.model_fields.items():
        said = schema["properties"][name]
        needed = "yes" if field.is_required() else _default(field)
        lines.append(f"| `{name}` | {needed} | {_shape(said)}{_changes(model, name)} |")
    return "\n".join(lines)


def _default(field: FieldInfo) -> str:
    value = field.default
    return f"no, `{value}`" if isinstance(value, str | int | float) else "no"


def _shape(said: dict[str, object]) -> str:
    if isinstance(options := said.get("anyOf"), list):
        said = {**said, **next(one for one in options if one.get("type") != "null")}
    parts = [str(said.get("type") or str(said.get("$ref", "")).rpartition("/")[2] or "any")]
    parts += [f"{word} {said[key]}".strip() for key, word in _WORDS.items() if key in said]
    if "enum" in said:
        parts.append(" · ".join(f"`{one}`" for one in said["enum"]))  # type: ignore[attr-defined] # a list
    return ", ".join(parts)


_WORDS: Final = {
    "format": "",
    "minimum": "from",
    "maximum": "to",
    "minLength": "at least",
    "maxLength": "at most",
}


def _changes(model: type[BaseModel], name: str) -> str:
    return "; nobody may change it" if model is Envelope and name in IMMUTABLE else ""


def _types() -> str:
    lines = ["| type | usual priority |", "|---|---|"]
    found = [(domain, action) for domain in kinds.DOMAINS for action in kinds.actions_of(domain)]
    lines += [
        f"| `{domain}.{action}` | {kinds.typical_priority(domain, action)} |" for domain, action in found
    ]
    return "\n".join(lines)


def _services() -> str:
    lines = ["| service | queue | integrated by | priority | takes |", "|---|---|---|---|---|"]
    for one in SPECIFIED:
        ways = ", ".join(one.integrations) + ("" if one.answers else " (one way)")
        takes = ", ".join(f"`{name}`" for name in one.takes) or "what names it"
        lines.append(f"| `{one.name}` | `{one.queue}` | {ways} | {one.priority} | {takes} |")
    return "\n".join(lines)


def _violations() -> str:
    lines = ["| code | remedy |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{code}` | {REMEDIES[code]} |" for code in Code)])


TABLES: Final[dict[str, Callable[[], str]]] = {
    "envelope": lambda: _fields(Envelope),
    "metadata": lambda: _fields(Metadata),
    "types": _types,
    "services": _services,
    "violations": _violations,
    "steps": lambda: _fields(PlanStep),
}


def filled(text: str) -> str:
    """The page with its tables as the models say."""
    for name, make in TABLES.items():
        mark = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(mark, lambda found, made=make: f"{found[1]}{made()}\n{found[2]}", text, flags=re.DOTALL)  # type: ignore[misc] # a default binds it now
    return text


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
