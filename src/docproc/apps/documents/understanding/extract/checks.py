"""Checks single values by what their schema says; one that fails is kept, doubted and explained."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation

from docproc.apps.documents.understanding import validate
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.reading.folding import fold, phrases
from docproc.reading.page import Source

FAILED = 0.1  # the most that a value is worth which cannot be right as it stands
PRINTED = 0.8  # the most for a number whose check digits fail as they were printed
SUREST = 0.99
_CHECK_DIGITS_AGREE = 0.15  # of what was doubtful; the search has seen the check digits of known kinds


def checked(spec: FieldSpec, answer: FieldValue | None) -> FieldValue | None:
    """The value with the confidence its checks leave it."""
    if answer is None or spec.type == "table":
        return answer
    value = replace(answer, value=_trimmed(spec, answer.value))
    if value.confirmed and not value.reason:  # a person has seen this very value: odd perhaps, but right
        return value
    if trouble := problem(spec, value.value):
        if _is_printed_so(spec, value):
            sure = min(value.confidence, PRINTED)
            return replace(value, confidence=sure, reason=value.reason or trouble)
        return replace(value, confidence=min(value.confidence, FAILED), reason=value.reason or trouble)
    if not value.reason and validate.CHECK_DIGITS.intersection(spec.validators):
        raised = value.confidence + _CHECK_DIGITS_AGREE * (1 - value.confidence)
        return replace(value, confidence=max(value.confidence, min(raised, SUREST)))
    return value


def _is_printed_so(spec: FieldSpec, value: FieldValue) -> bool:
    """Nothing was misread on a page that was not scanned: a wrong check digit is what the document says."""
    others = tuple(kind for kind in spec.validators if kind not in validate.CHECK_DIGITS)
    return (
        value.source == Source.TEXT_LAYER and problem(replace(spec, validators=others), value.value) is None
    )


def problem(spec: FieldSpec, value: str) -> Reason | None:
    """What is wrong with a value of this field; None: nothing."""
    for kind in spec.validators:
        if reason := validate.check(kind, value):
            return reason
    if spec.pattern and not re.fullmatch(spec.pattern, value, re.IGNORECASE):
        return Reason(Code.PATTERN, {"value": value, "field": spec.name})
    if spec.one_of and fold(value) not in map(fold, spec.one_of):
        return Reason(Code.NOT_AMONG, {"value": value, "options": ", ".join(spec.one_of)})
    return _out_of_bounds(spec, value)


def _out_of_bounds(spec: FieldSpec, value: str) -> Reason | None:
    facts = {"value": value, "field": spec.name}
    try:
        if spec.min is not None and comparable(spec.type, value) < comparable(spec.type, spec.min):
            return Reason(Code.BELOW, {**facts, "limit": spec.min})
        if spec.max is not None and comparable(spec.type, value) > comparable(spec.type, spec.max):
            return Reason(Code.ABOVE, {**facts, "limit": spec.max})
    except (InvalidOperation, ValueError):
        return Reason(Code.NOT_COMPARABLE, {"value": value, "type": spec.type})
    return None


def comparable(type_: str, value: str) -> Decimal:
    """A number that orders values of a type: the amount itself, or the day. Raises for what is neither."""
    return Decimal(date.fromisoformat(value).toordinal()) if type_ == "date" else Decimal(value)


def _trimmed(spec: FieldSpec, value: str) -> str:
    """Of a text that holds more than the value, the value: `1234 BCD Seat` → `1234 BCD` by its pattern."""
    if spec.pattern and not re.fullmatch(spec.pattern, value, re.IGNORECASE):
        inside = re.search(rf"(?<!\w)(?:{spec.pattern})(?!\w)", value, re.IGNORECASE)
        return inside[0] if inside else value
    if spec.one_of:
        options = [option for option in spec.one_of if f" {phrases(option).strip()} " in phrases(value)]
        return max(options, key=len) if options else value
    return value
