"""A material that has failed for good: said in the link, in the log, to the teacher and to the dead-letter
queue."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials import links, log, notices
from docproc.apps.materials.metrics import MATERIALS
from docproc.apps.materials.order import PAYLOAD_KEY, Order
from docproc.apps.materials.tables import LinkStatus, MaterialDelivery, MaterialFailure
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store.tables import Event
from docproc.harmless import text_for_events
from docproc.settings import Settings


async def record(
    session: AsyncSession, settings: Settings, message: PipelineMessage, error: Exception
) -> None:
    """In the transaction that buries the message: once, like everything else in it."""
    said = message.payload.get(PAYLOAD_KEY) or {}
    material_id = str(said.get("material_id") or message.request_id)[:200]
    tenant_id, request_id = message.tenant_id, message.request_id
    reason, code = text_for_events(error), str(getattr(error, "code", None) or type(error).__name__)
    await links.say(session, tenant_id, material_id, LinkStatus.FAILED, request_id=request_id, error=reason)
    log.record(
        session,
        log.EventType.PROCESSING_FAILED,
        tenant_id=tenant_id,
        material_id=material_id,
        request_id=request_id,
        duration_seconds=(utc_now() - message.created_at).total_seconds(),
        data={"stage": message.current_stage, "code": code, "error": reason, "attempts": message.attempt},
    )
    body = await session.scalar(
        select(MaterialDelivery.body).where(MaterialDelivery.request_id == request_id)
    )
    session.add(
        MaterialFailure(
            id=uuid4(),
            tenant_id=tenant_id,
            request_id=request_id,
            material_id=material_id,
            code=code[:64],
            reason=reason,
            attempts=message.attempt,
            history=await _history(session, message, reason),
            body=body,
        )
    )
    order = Order.model_construct(**{"material_id": material_id, **said})
    notices.add(session, settings, message, order, notices.failed(order, code, reason))
    await session.flush()
    session.info.setdefault("after_commit", []).append(MATERIALS.labels("failed").inc)


async def _history(session: AsyncSession, message: PipelineMessage, reason: str) -> list[dict[str, Any]]:
    """The tries before, as the events tell them, and the last one."""
    query = (
        select(Event.attempt, Event.finished_at, Event.data)
        .where(Event.request_id == message.request_id, Event.message_id == message.message_id)
        .order_by(Event.id)
    )
    before = [
        {"attempt": row.attempt, "at": row.finished_at.isoformat(), "error": (row.data or {}).get("error")}
        for row in await session.execute(query)
    ]
    return [*before, {"attempt": message.attempt, "at": utc_now().isoformat(), "error": reason}]
