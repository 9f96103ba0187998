"""An office for bench/backoffice.py: people, tasks that wait for them, a plain queue of the same tasks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy import select, text, update

from bench.servers import PostgresServer
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import rows, tasks
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request
from docproc.engine.store.task_tables import BackofficeTask, Operator

# Who can do what: some only one kind, most both.
SKILLS = (
    ("classification", "extraction"),
    ("classification", "extraction"),
    ("classification",),
    ("extraction",),
)
PAGES_PER_REQUEST = 10
# What a page's text and its suggestion weigh.
ASKED = {"text": "Factura 2024/117 " * 100, "suggested_type": "invoice", "confidence": 0.61}

_RAW_TABLE = """
CREATE TABLE raw_tasks AS
    SELECT id, 'pending'::text AS status, priority, deadline_utc, created_at, input_data, message,
           NULL::uuid AS assigned_to
    FROM backoffice_tasks
"""
_RAW_INDEX = (
    "CREATE INDEX ON raw_tasks (priority DESC, deadline_utc, created_at) WHERE status = 'pending'",
    "ALTER TABLE raw_tasks ADD PRIMARY KEY (id)",
    "ANALYZE raw_tasks",
)
_RAW_NEXT = """
SELECT id FROM raw_tasks WHERE status = 'pending'
ORDER BY priority DESC, deadline_utc, created_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_RAW_TAKE = "UPDATE raw_tasks SET status = 'assigned', assigned_to = $2 WHERE id = $1"
_RAW_DONE = "UPDATE raw_tasks SET status = 'completed' WHERE id = $1"


async def hire(store: Store, number: int) -> list[Operator]:
    now = utc_now()
    people = [
        {"username": f"op{n}", "skills": list(SKILLS[n % len(SKILLS)]), "last_seen_at": now}
        for n in range(number)
    ]
    async with store.writing() as session:
        await rows.insert(session, Operator.__table__, people)  # type: ignore[arg-type] # is a Table
    async with store.reading() as session:
        return list(await session.scalars(select(Operator)))


async def ask(store: Store, number: int) -> None:
    """Tasks of many requests with all priorities and deadlines; always the same ones."""
    chance = random.Random(7)
    requests = [uuid4() for _ in range(number // PAGES_PER_REQUEST + 1)]
    async with store.writing() as session:
        opened = [{"id": one, "workflow_name": "bench", "status": "processing"} for one in requests]
        await rows.insert(session, Request.__table__, opened)  # type: ignore[arg-type] # is a Table
        asked = [_task(chance, requests[n // PAGES_PER_REQUEST]) for n in range(number)]
        for start in range(0, number, 2000):
            await rows.insert(session, BackofficeTask.__table__, asked[start : start + 2000])  # type: ignore[arg-type] # is a Table
    async with store.writing() as session:
        for table in ("backoffice_tasks", "operators"):
            await session.execute(text(f"ANALYZE {table}"))


def _task(chance: random.Random, request_id: UUID) -> dict[str, object]:
    kind = chance.choice(("classification", "extraction"))
    due = utc_now() + timedelta(minutes=chance.uniform(5, 600))
    message = PipelineMessage(request_id=request_id, current_stage="classify", deadline_utc=due)
    return {
        "request_id": request_id,
        "task_type": kind,
        "reference_id": uuid4(),
        "status": "pending",
        "priority": chance.choice((3, 5, 5, 5, 7, 9)),
        "required_skills": [kind],
        "source_stage": "classify",
        "workflow_name": "bench",
        "deadline_utc": due,
        "input_data": ASKED,
        "message": message.encode().decode(),
    }


async def finish(store: Store, task_id: UUID, operator_id: UUID, now: datetime) -> None:
    """The task is answered; what follows for the document is another bench's."""
    async with store.writing() as session:
        done = update(BackofficeTask).where(BackofficeTask.id == task_id)
        await session.execute(done.values(status="completed", completed_at=now))
        await tasks.clear_current(session, operator_id, task_id)


async def take_back_all(store: Store) -> None:
    """Nobody has anything."""
    async with store.writing() as session:
        await session.execute(text("UPDATE operators SET current_task_id = NULL, last_seen_at = now()"))
        await session.execute(
            text(
                "UPDATE backoffice_tasks SET status = 'pending', assigned_to = NULL, assigned_at = NULL,"
                " accepted_at = NULL, seen_at = NULL WHERE status = 'assigned'"
            )
        )


async def doubled(store: Store) -> int:
    """Tasks that were given more than once, by the record of it."""
    query = (
        "SELECT count(*) FROM (SELECT data->>'task_id' FROM events WHERE kind = 'task'"
        " AND outcome = 'claimed' GROUP BY 1 HAVING count(*) > 1) twice"
    )
    async with store.reading() as session:
        return int(await session.scalar(text(query)) or 0)


class RawQueue:
    """The plain way: SELECT … FOR UPDATE SKIP LOCKED LIMIT 1, then UPDATE, on a table of the same tasks."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self.pool = pool

    @classmethod
    async def of(cls, server: PostgresServer, connections: int) -> RawQueue:
        url = server.url.replace("+asyncpg", "")
        pool = await asyncpg.create_pool(url, min_size=connections, max_size=connections)
        async with pool.acquire() as connection:
            for statement in (_RAW_TABLE, *_RAW_INDEX):
                await connection.execute(statement)
        return cls(pool)

    async def next(self, operator_id: UUID) -> UUID | None:
        async with self.pool.acquire() as connection, connection.transaction():
            found: UUID | None = await connection.fetchval(_RAW_NEXT)
            if found is not None:
                await connection.execute(_RAW_TAKE, found, operator_id)
            return found

    async def finish(self, task_id: UUID) -> None:
        async with self.pool.acquire() as connection:
            await connection.execute(_RAW_DONE, task_id)

    async def close(self) -> None:
        await self.pool.close()


def percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
