"""The log `material_event`: what became of materials, how long it took and what it cost."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.tables import MaterialEvent
from docproc.engine.message import utc_now


class EventType(StrEnum):
    PROCESSING_STARTED = "processing_started"
    PROCESSING_COMPLETED = "processing_completed"
    PROCESSING_FAILED = "processing_failed"
    SUMMARY_GENERATED = "summary_generated"
    ASSESSMENT_GENERATED = "assessment_generated"


def record(
    session: AsyncSession,
    event_type: EventType,
    *,
    tenant_id: str,
    material_id: str,
    request_id: UUID | None,
    duration_seconds: float | None = None,
    tokens: int | None = None,
    cost_usd: float | None = None,
    data: dict[str, Any] | None = None,
) -> None:
    """In the caller's transaction, so that an event is told once, or not at all."""
    session.add(
        MaterialEvent(
            tenant_id=tenant_id,
            material_id=material_id,
            request_id=request_id,
            event_type=event_type,
            duration_ms=None if duration_seconds is None else round(duration_seconds * 1000),
            tokens=tokens,
            estimated_cost_usd=cost_usd,
            data=data,
        )
    )


async def of_request(session: AsyncSession, request_id: UUID) -> list[dict[str, Any]]:
    """Its entries so far, as a document database keeps them."""
    query = select(MaterialEvent).where(MaterialEvent.request_id == request_id)
    return [
        {
            "_id": str(event.id),
            "material_id": event.material_id,
            "request_id": str(request_id),
            "event_type": event.event_type,
            "duration_ms": event.duration_ms,
            "tokens": event.tokens,
            "estimated_cost_usd": event.estimated_cost_usd,
            "data": event.data,
            "created_at": event.created_at,
        }
        for event in await session.scalars(query.order_by(MaterialEvent.created_at))
    ]


async def sweep(session: AsyncSession, days: float) -> int:
    """Remove what is older; says how many."""
    before = utc_now() - timedelta(days=days)
    done = await session.execute(delete(MaterialEvent).where(MaterialEvent.created_at < before))
    return int(getattr(done, "rowcount", 0) or 0)
