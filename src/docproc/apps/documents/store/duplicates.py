"""Documents that came before: the same issuer, number and total in an earlier request of the tenant."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.store import documents
from docproc.apps.documents.tables import Document
from docproc.apps.documents.understanding.types import loader
from docproc.reading.folding import fold


def identity(doc_type: str | None, data: Mapping[str, Any]) -> str | None:
    """A digest of what tells a document from all others of its type; None where it does not say all of it."""
    known = loader.shipped().get(doc_type or "")
    if known is None or not known.identity:
        return None
    parts = [next((data[name] for name in names if data.get(name)), None) for names in known.identity]
    if any(part is None for part in parts):
        return None
    told = "|".join([doc_type or "", *(_plain(part) for part in parts)])
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def _plain(value: Any) -> str:
    """However it is written."""
    if isinstance(value, int | float):
        return f"{value:.2f}"
    return "".join(sign for sign in fold(str(value)) if sign.isalnum())


async def earlier(
    session: AsyncSession, tenant_id: str, stored: Sequence[Document]
) -> dict[UUID, dict[str, str]]:
    """By document, the same one in an earlier request; notes what identifies these, for later requests."""
    own = {one.id: key for one in stored if (key := identity(one.doc_type, one.extracted_data or {}))}
    changed = [
        {"id": one.id, "identity": own.get(one.id)} for one in stored if one.identity != own.get(one.id)
    ]
    await documents.change_many(session, changed)
    if not own:
        return {}
    query = (
        select(Document.identity, Document.id, Document.request_id, Document.created_at)
        .where(
            Document.tenant_id == tenant_id,
            Document.identity.in_(set(own.values())),
            Document.request_id != stored[0].request_id,
        )
        .order_by(Document.created_at.desc())
    )
    first = {row.identity: row for row in await session.execute(query)}  # the last one assigned is the oldest
    when = {one.id: one.created_at for one in stored}
    return {
        key: {"request_id": str(first[told].request_id), "document_id": str(first[told].id)}
        for key, told in own.items()
        if told in first and first[told].created_at < when[key]
    }
