"""What one version of an answer says otherwise than the one before: documents, types and fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docproc.apps.documents.texts import names, text
from docproc.http.console_view import Change
from docproc.written import Written, day_of, number_of

# Enough to see what happened; all of it is in the JSON.
MOST = 60


def differences(before: Any, after: Any, written: Written) -> list[Change]:
    old, new = _documents(before), _documents(after)
    found: list[Change] = []
    for key in dict.fromkeys((*old, *new)):
        found += _of_document(old.get(key), new.get(key), written)
    return found[:MOST]


def _documents(answer: Any) -> dict[tuple[int, ...], Mapping[str, Any]]:
    """By their pages, which stay when a person says what they are."""
    documents = answer.get("documents") if isinstance(answer, dict) else None
    return {tuple(one.get("page_indices") or ()): one for one in documents or () if isinstance(one, dict)}


def _of_document(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, written: Written
) -> Iterator[Change]:
    language = written.language
    where = _where(new or old or {}, language)
    if old is None or new is None:
        yield Change(
            where,
            "" if old is None else text(language, "diff_gone"),
            text(language, "diff_new") if old is None else "",
        )
        return
    if old.get("doc_type") != new.get("doc_type"):
        types = [names.type_name(language, one.get("doc_type")) for one in (old, new)]
        yield Change(f"{where}: {text(language, 'diff_type')}", *types)
    was, now = _values(old), _values(new)
    for name in dict.fromkeys((*was, *now)):
        if was.get(name) != now.get(name):
            label = f"{where}: {names.field_name(language, name)}"
            yield Change(label, _shown(was.get(name), written), _shown(now.get(name), written))


def _where(document: Mapping[str, Any], language: str) -> str:
    pages = document.get("page_indices") or [0]
    if len(pages) > 1:
        told = text(language, "pages_numbers", first=pages[0] + 1, last=pages[-1] + 1)
    else:
        told = text(language, "page_number", number=pages[0] + 1)
    return text(
        language, "diff_document", type=names.type_name(language, document.get("doc_type")), pages=told
    )


def _values(document: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: field.get("value") for name, field in (document.get("fields") or {}).items()}
    return {**(document.get("extracted_data") or {}), **fields}


def _shown(value: Any, written: Written) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return text(written.language, "diff_rows", number=len(value))
    if day_of(value):
        return written.date(value)
    is_amount = isinstance(value, int | float) or (
        isinstance(value, str) and "." in value and number_of(value) is not None
    )
    return written.number(value, 2) if is_amount else str(value)
