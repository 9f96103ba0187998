"""What tasks say of people: looked through for a person who is to be forgotten."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.tables import Call, Task


async def texts(session: AsyncSession, tenant_id: str | None) -> AsyncIterator[tuple[UUID, str]]:
    """What clients sent, and what services were sent and answered, by request."""
    tasks = select(Task.request_id, Task.tenant_id, Task.envelope, Task.inputs)
    calls = select(Call.request_id, Call.tenant_id, Call.envelope, Call.result, Call.error)
    for query, table in ((tasks, Task), (calls, Call)):
        wanted = query if tenant_id is None else query.where(table.tenant_id == tenant_id)
        async for row in await session.stream(wanted):
            yield row.request_id, json.dumps(list(row[2:]), ensure_ascii=False, default=str)
