"""Notices to teachers: written with the end of their material, sent afterwards until they were taken."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.order import Order
from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.materials.tables import MaterialNotice
from docproc.engine.message import PipelineMessage, utc_now
from docproc.settings import Settings

WEBHOOK = "webhook"
MAIL = "mail"


def add(
    session: AsyncSession, settings: Settings, message: PipelineMessage, order: Order, content: dict[str, Any]
) -> None:
    """In the transaction of what it tells: a notice each for the webhook and the teacher's mail, where
    set."""
    materials = settings.section(MaterialsSettings)
    ways = []
    if materials.materials_notify_url:
        ways.append((WEBHOOK, materials.materials_notify_url))
    if materials.materials_mail_url and order.teacher_email:
        ways.append((MAIL, order.teacher_email))
    now = utc_now()
    for way, address in ways:
        session.add(
            MaterialNotice(
                id=uuid4(),
                tenant_id=message.tenant_id,
                request_id=message.request_id,
                way=way,
                address=address,
                content={
                    **content,
                    "material_id": order.material_id,
                    "school_id": order.school_id,
                    "teacher_id": order.teacher_id,
                    "title": order.title,
                    "request_id": str(message.request_id),
                    "timestamp": now.isoformat(),
                },
                due_at=now,
            )
        )


def completed(order: Order, version: int, questions: int) -> dict[str, Any]:
    return {"event_type": "material_completed", "version": version, "total_questions": questions}


def failed(order: Order, code: str, reason: str) -> dict[str, Any]:
    return {"event_type": "material_failed", "code": code, "reason": reason}
