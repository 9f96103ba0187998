"""An invoice that an earlier request already had is named with it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from docproc.apps.documents.store import documents, duplicates
from docproc.engine.message import utc_now
from docproc.engine.store import rows
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request

REQUESTS: Any = Request.__table__
DATA = {"vendor_tax_id": "B16596447", "invoice_number": "F-2026/015", "total_amount": 1210.0}


async def sent(store: Store, data: dict[str, Any], *, minutes: int, tenant: str = "default") -> UUID:
    """A request with one invoice, that long after the first."""
    request_id, at = uuid4(), utc_now() - timedelta(hours=1) + timedelta(minutes=minutes)
    request = {"id": request_id, "tenant_id": tenant, "channel": "test", "workflow_name": "default"}
    document = {
        "id": uuid4(),
        "tenant_id": tenant,
        "request_id": request_id,
        "doc_type": "invoice",
        "extracted_data": data,
        "created_at": at,
    }
    async with store.writing() as session:
        await rows.insert(session, REQUESTS, [request])
        await rows.insert(session, documents.TABLE, [document])
    return request_id


async def earlier(store: Store, request_id: UUID, tenant: str = "default") -> list[str]:
    async with store.writing() as session:
        stored = await documents.of_request(session, request_id)
        found = await duplicates.earlier(session, tenant, stored)
    return [one["request_id"] for one in found.values()]


async def test_same_invoice_sent_twice_is_named_with_the_first_request(store: Store) -> None:
    first = await sent(store, DATA, minutes=0)
    second = await sent(store, {**DATA, "invoice_number": "f 2026 / 015"}, minutes=5)
    other = await sent(store, {**DATA, "total_amount": 99.0}, minutes=6)
    assert await earlier(store, first) == []
    assert await earlier(store, second) == [str(first)]
    assert await earlier(store, other) == []
    assert await earlier(store, first) == []  # what came later changes nothing


async def test_invoices_of_another_tenant_are_none_of_ours(store: Store) -> None:
    theirs = await sent(store, DATA, minutes=0, tenant="theirs")
    ours = await sent(store, DATA, minutes=5)
    assert await earlier(store, theirs, "theirs") == []
    assert await earlier(store, ours) == []


def test_document_that_does_not_say_enough_has_no_identity() -> None:
    assert duplicates.identity("invoice", {**DATA, "invoice_number": None}) is None
    assert duplicates.identity("receipt", DATA) is None
    by_name = {**DATA, "vendor_tax_id": None, "vendor_name": "Vega, S.L."}
    assert duplicates.identity("invoice", by_name) == duplicates.identity(
        "invoice", {**by_name, "vendor_name": "VEGA S.L."}
    )
