"""Reasons at the edge: as sentences of a language, and as JSON in answers, rows and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docproc.apps.documents.texts import names, text
from docproc.apps.documents.understanding.reason import Code, Reason

# Facts that are keys of words, and how the keys of their texts begin.
_WORDS = {
    "first": "source_",
    "second": "source_",
    "kind": "identifier_",
    "part": "zone_part_",
    "type": "field_type_",
}


def sentence(reason: Reason, language: str = "en") -> str:
    """In English it is part of the API: `reason` of a field."""
    facts = {name: _word(name, fact, language) for name, fact in reason.facts.items()}
    return text(language, f"reason_{reason.code}", **facts)


def _word(name: str, fact: str, language: str) -> str:
    if name in _WORDS:
        return text(language, f"{_WORDS[name]}{fact}")
    if name == "field" and language != "en":  # in English as workflows and answers spell it
        return names.field_name(language, fact)
    return fact


def as_json(reason: Reason) -> dict[str, Any]:
    """The two keys of a field: the sentence for people, code and facts for programs and other languages."""
    return {"reason": sentence(reason), "why": {"code": reason.code.value, "facts": dict(reason.facts)}}


def from_json(field: Mapping[str, Any]) -> Reason | str | None:
    """Of a stored field. Of one from before there were codes, or from a later version, the sentence."""
    why = field.get("why")
    try:
        return Reason(Code(why["code"]), dict(why["facts"])) if why else field.get("reason")
    except (KeyError, TypeError, ValueError):
        return field.get("reason")
