"""Deliveries: answers on their way to a client's `callback_url`, one row per version."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.message import utc_now
from docproc.store import rows
from docproc.store.tables import AnswerDelivery, DeliveryState, Request

TABLE: Any = AnswerDelivery.__table__


def delivery_id(request_id: UUID, version: int) -> UUID:
    """The same version has the same id, however often it is sent."""
    return uuid5(request_id, f"answer:{version}")


async def queue(session: AsyncSession, answered: Sequence[tuple[Request, bool]]) -> None:
    """Have the current answers of these requests delivered, where somebody asked for it."""
    now = utc_now()
    await rows.insert(
        session,
        TABLE,
        [
            {
                "id": delivery_id(request.id, request.answer_version),
                "tenant_id": request.tenant_id,
                "request_id": request.id,
                "version": request.answer_version,
                "url": request.callback_url,
                "body": _body(request, is_partial),
                "state": DeliveryState.PENDING.value,
                "next_attempt_at": now,
            }
            for request, is_partial in answered
            if request.callback_url
        ],
    )


def _body(request: Request, is_partial: bool) -> str:
    """Written once: every attempt sends these very bytes."""
    said = {
        "type": "answer",
        "delivery_id": delivery_id(request.id, request.answer_version),
        "request_id": request.id,
        "external_id": request.external_id,
        "answer_version": request.answer_version,
        "partial": is_partial,
        "status": str(request.status),
        "workflow_name": request.workflow_name,
        "created_at": request.created_at.isoformat(),
        "deadline_utc": request.deadline_utc.isoformat() if request.deadline_utc else None,
        "completed_at": request.completed_at.isoformat() if request.completed_at else None,
        "breached_at": request.breached_at.isoformat() if request.breached_at else None,
        "result": request.result_payload,
        "error": request.error,
    }
    return json.dumps(said, default=str, ensure_ascii=False)
