"""What the inbox shows and finds of requests with documents: types, issuers, amounts, doubts, all texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import doubts
from docproc.apps.documents.tables import Document, File, Page
from docproc.engine.store.search import Entry
from docproc.written import number_of

# Who it is from, by the first of these fields that a document has.
ISSUERS = ("vendor_name", "company_name", "party_a", "account_holder", "full_name")
# What it is about: amounts of these names are summed over documents of one currency.
SUMMED = "total_amount"
AMOUNTS = (SUMMED, "net_amount", "closing_balance")
NO_TYPE = ("other", "unknown")
# Words of later pages are in the answer's fields, if they matter.
MOST_PAGES = 500


async def describe(session: AsyncSession, request_ids: Sequence[UUID]) -> dict[UUID, Entry]:
    """For the index of the inbox (docproc.engine.store.search.Describe)."""
    documents = await _by_request(
        session,
        select(
            Document.request_id, Document.doc_type, Document.fields, Document.extracted_data,
            Document.needs_review, Document.doubts, Document.page_indices,
        ).where(Document.request_id.in_(request_ids)),
    )  # fmt: skip
    files = await _by_request(
        session,
        select(File.request_id, File.name, File.page_count, File.skipped)
        .where(File.request_id.in_(request_ids))
        .order_by(File.file_index),
    )
    texts = await _by_request(
        session,
        select(Page.request_id, Page.ocr_text).where(
            Page.request_id.in_(request_ids), Page.page_index < MOST_PAGES, Page.ocr_text.is_not(None)
        ),
    )
    return {
        request_id: entry(documents.get(request_id, []), files[request_id], texts.get(request_id, []))
        for request_id in files
    }


async def _by_request(session: AsyncSession, query: Any) -> dict[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = {}
    for row in await session.execute(query):
        found.setdefault(row.request_id, []).append(row)
    return found


def entry(documents: Sequence[Any], files: Sequence[Any], texts: Sequence[Any]) -> Entry:
    """From rows of documents, files and pages of one request."""
    documents = sorted(documents, key=lambda one: (one.page_indices or [0])[0])
    values = [_values(one) for one in documents]
    # Most first, and what is of no type last.
    counted = Counter(one.doc_type or "unknown" for one in documents).most_common()
    types = sorted(counted, key=lambda pair: pair[0] in NO_TYPE)
    names = [file.name for file in files]
    summary = {
        # Pairs: PostgreSQL keeps no order of keys.
        "types": [list(pair) for pair in types],
        "pages": sum(file.page_count for file in files),
        **_issuer(values),
        **_total(values),
    }
    said = (str(one) for several in values for one in _flat(several.values()))
    return Entry(
        title=", ".join(file.name for file in files if not file.skipped),
        texts=[*names, *said, *(row.ocr_text for row in texts)],
        summary=summary,
        attention=sum(len(doubts.named(one.doubts, one.needs_review)) for one in documents),
        facets={"type": [name for name, _ in types]},
    )


def _values(document: Any) -> dict[str, Any]:
    """By name: what a person would read, amounts exactly."""
    fields = {name: field.get("value") for name, field in (document.fields or {}).items()}
    return {**(document.extracted_data or {}), **fields}


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, Mapping):
            yield from _flat(value.values())
        elif isinstance(value, list):
            yield from _flat(value)
        elif value is not None:
            yield value


def _issuer(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = [next((str(one[name]) for name in ISSUERS if one.get(name)), None) for one in values]
    names = list(dict.fromkeys(filter(None, found)))
    return {"issuer": names[0], "issuers": len(names)} if names else {}


def _total(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The sum of totals of one currency; else the first amount there is."""
    totals = [(number_of(one.get(SUMMED)), one.get("currency")) for one in values]
    known = [(amount, currency) for amount, currency in totals if amount is not None]
    if known and len({currency for _, currency in known}) == 1:
        return {"total": str(sum((amount for amount, _ in known), Decimal())), "currency": known[0][1]}
    for one in values:
        for name in AMOUNTS:
            if (amount := number_of(one.get(name))) is not None:
                return {"total": str(amount), "currency": one.get("currency")}
    return {}
