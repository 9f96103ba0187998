"""The evidence ladder: attached data before codes, codes before print; where they differ, a person looks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from docproc.apps.documents.understanding import validate
from docproc.apps.documents.understanding.extract.agreement import Print, is_name, is_part, same
from docproc.apps.documents.understanding.extract.checks import PRINTED
from docproc.apps.documents.understanding.extract.layout import layout
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.extract.type_hooks import hook_of
from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.reading.codes import Claim, claims
from docproc.reading.page import PageText, Source

Found = dict[str, FieldValue | None]

_AGREED = 0.995  # the print says the same
_SEEN = 0.985  # the value is on the page, though the search had another in mind
_ALONE = 0.97  # nothing on the page speaks of it
_UNLIKE = 0.93  # something else was read, but nothing to rely on
_DOUBTED = 0.4  # below any threshold that asks people at all
_CONFIDENT = 0.7  # from here on the print contradicts, below it is a bad reading
_SURE = 0.9
_READABLE = 0.5
_SPANISH_TAX_ID = re.compile(r"(?:ES)?(?:[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z])")


def climb(doc_type: str, fields: Sequence[FieldSpec], pages: Sequence[PageText], printed: Found) -> Found:
    """The fields by their best evidence; `printed` is what the search made of the print."""
    told = [*claims(doc_type, pages), *hook_of(doc_type).claims(pages)]
    values = dict(printed)
    if told:
        print_ = Print(layout(pages))
        for field in fields:
            if speaking := [claim for claim in told if claim.values.get(field.name)]:
                values[field.name] = _weighed(field, speaking, printed.get(field.name), print_)
    return values | {field.name: _checked(field, values.get(field.name)) for field in fields}


def _weighed(
    field: FieldSpec, told: Sequence[Claim], printed: FieldValue | None, print_: Print
) -> FieldValue:
    """The first claim's value, as sure as the other claims and the print let it be."""
    claim, *others = told
    value = claim.values[field.name]
    if field.name in claim.failed:
        failed = Reason(Code.ZONE_CHECK_DIGIT, {"part": field.name})
        return _with_doubt(_claimed(field, claim, _DOUBTED), printed, failed)
    for other in others:
        said = other.values[field.name]
        if not _agree(field, claim, value, said) and field.name not in other.failed:
            reason = _differ(claim.what, value, _another(claim, other), said)
            return _claimed(field, claim, _DOUBTED, reason=reason)
    if printed is None:
        return _unread(field, claim, print_)
    if _agree(field, claim, value, printed.value):
        return _agreed(field, claim, printed)
    return _differing(field, claim, printed, print_)


def _agree(field: FieldSpec, claim: Claim, value: str, other: str) -> bool:
    if same(field, value, other, short_years=claim.short_years):
        return True
    return field.name == "invoice_number" and is_part(value, other)


def _agreed(field: FieldSpec, claim: Claim, printed: FieldValue) -> FieldValue:
    value = claim.values[field.name]
    if _is_print_clearer(field, claim, printed):
        value = printed.value
    answer = _claimed(field, claim, max(_AGREED, printed.confidence), value)
    return answer if answer.box else replace(answer, page=printed.page, box=printed.box)


def _is_print_clearer(field: FieldSpec, claim: Claim, printed: FieldValue) -> bool:
    """Whether to write it as printed: zones have no accents and no centuries, codes no hyphens."""
    if is_name(field) or field.type == "date":
        return claim.short_years
    return field.type == "string" and same(field, claim.values[field.name], printed.value)


def _unread(field: FieldSpec, claim: Claim, print_: Print) -> FieldValue:
    answer = _claimed(field, claim, claim.confidence.get(field.name, _ALONE))
    place = None if answer.box else print_.place(field, answer.value)
    return replace(answer, page=place[0], box=place[1]) if place else answer


def _differing(field: FieldSpec, claim: Claim, printed: FieldValue, print_: Print) -> FieldValue:
    """The print says something else: misread, another value of the kind, or a contradiction."""
    value = claim.values[field.name]
    if field.name == "nationality" and printed.confidence >= _READABLE:
        return printed  # a code of three letters against a word
    if field.type == "decimal" and print_.explains(value, printed.value):
        return printed
    place = print_.place(field, value)
    if _contradicts(field, printed, is_seen=place is not None):
        reason = _differ(claim.what, value, "page", printed.value)
        return _claimed(field, claim, _DOUBTED, reason=reason)
    likely = claim.confidence.get(field.name, _UNLIKE)
    answer = _claimed(field, claim, max(likely, _SEEN) if place else min(likely, _UNLIKE))
    return replace(answer, page=place[0], box=place[1]) if place and not answer.box else answer


def _contradicts(field: FieldSpec, printed: FieldValue, *, is_seen: bool) -> bool:
    """Names are spelt in many ways, and a page has many dates and numbers; its total is another matter."""
    if is_name(field) or field.name == "sex":
        return False
    if is_seen:
        return field.type == "decimal" and printed.confidence >= _SURE
    return printed.confidence >= _CONFIDENT and not _is_misread(field, printed)


def _is_misread(field: FieldSpec, printed: FieldValue) -> bool:
    """A tax id or account with wrong check digits was read wrongly rather than printed so."""
    return field.type == "string" and _digits_problem(field, printed.value) is not None


def _claimed(
    field: FieldSpec, claim: Claim, confidence: float, value: str | None = None, reason: Reason | None = None
) -> FieldValue:
    return FieldValue(
        value or claim.values[field.name], confidence, claim.source, claim.page, claim.box, reason
    )


def _with_doubt(claimed: FieldValue, printed: FieldValue | None, doubt: Reason) -> FieldValue:
    """A check digit failed: what the print says plainly is the better guess, but a person looks."""
    better = printed if printed is not None and printed.confidence >= _CONFIDENT else claimed
    return replace(better, confidence=min(better.confidence, _DOUBTED), reason=doubt)


def _differ(first: str, value: str, second: str, other: str) -> Reason:
    return Reason(Code.SOURCES_DIFFER, {"first": first, "value": value, "second": second, "other": other})


def _another(claim: Claim, other: Claim) -> str:
    """The key of the second source; of two alike it is "another" one."""
    return f"another_{other.what}" if other.what == claim.what else other.what


def _checked(field: FieldSpec, value: FieldValue | None) -> FieldValue | None:
    """A failed check digit sends a value to a person, wherever it came from."""
    if (
        value is None or value.reason or value.confirmed
    ):  # confirmed: a person has seen this odd number before
        return value
    if not (problem := _digits_problem(field, value.value)):
        return value
    most = PRINTED if value.source == Source.TEXT_LAYER else _DOUBTED  # or it is what the document says
    return replace(value, confidence=min(value.confidence, most), reason=problem)


def _digits_problem(field: FieldSpec, value: str) -> Reason | None:
    """What is wrong with an account, or with a tax id that can only be Spanish."""
    if field.name == "iban":
        return validate.check("iban", value) if value else None
    if field.name.endswith("tax_id") and _SPANISH_TAX_ID.fullmatch(validate.compact(value)):
        return validate.check("nif", validate.compact(value).removeprefix("ES"))
    return None
