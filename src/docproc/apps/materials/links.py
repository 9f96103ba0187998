"""The rows that other systems look at: `material_summary_link` and `assessment`."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.order import Order
from docproc.apps.materials.store import Stored
from docproc.apps.materials.tables import Assessment, LinkStatus, MaterialSummaryLink
from docproc.engine.message import utc_now


async def say(
    session: AsyncSession,
    tenant_id: str,
    material_id: str,
    status: LinkStatus,
    *,
    request_id: UUID,
    summary: Stored | None = None,
    error: str | None = None,
) -> None:
    """Insert or update a material's link; without a summary the one it names stays."""
    now = utc_now()
    changed: dict[str, Any] = {"status": status, "request_id": request_id, "error": error, "updated_at": now}
    if summary is not None:
        changed["mongo_document_id"] = summary.document_id
    values = {"id": uuid4(), "tenant_id": tenant_id, "material_id": material_id, "created_at": now, **changed}
    await _upsert(session, MaterialSummaryLink, values, changed)


async def say_assessment(
    session: AsyncSession, tenant_id: str, order: Order, stored: Stored, title: str, questions: int
) -> None:
    """A material's quiz has one row, created once; processing again updates it."""
    now = utc_now()
    changed: dict[str, Any] = {
        "mongo_document_id": stored.document_id,
        "title": title,
        "total_questions": questions,
        "updated_at": now,
    }
    values = {"id": uuid4(), "tenant_id": tenant_id, "material_id": order.material_id, "created_at": now}
    await _upsert(session, Assessment, {**values, **changed}, changed)


async def _upsert(
    session: AsyncSession, table: type[Any], values: dict[str, Any], changed: dict[str, Any]
) -> None:
    connection = await session.connection()
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table).values(**values)
    await session.execute(
        statement.on_conflict_do_update(index_elements=["tenant_id", "material_id"], set_=changed)
    )
