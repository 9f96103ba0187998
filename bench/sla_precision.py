"""How exactly the monitor keeps its moments while 10 000 requests are open."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from bench.servers import PostgresServer
from bench.sla_fleet import DOCPROC, System, running
from bench.sla_flow import PATHS
from bench.sla_ledger import percentile
from bench.sla_load import SEED, Scale
from docproc.engine.message import PipelineMessage
from docproc.engine.store import events, messages, rows
from docproc.engine.store.messages import Outgoing
from docproc.engine.store.tables import MessageState, Request, RequestStatus, Worker
from docproc.engine.workflow.checkpoints import Checkpoints, checkpoints
from docproc.engine.workflow.definition import Sla

OPEN = 10_000
NEAR = 400
# The first moments come only after all rows are there.
HEAD_START_SECONDS = 4.0
FAR_SECONDS = 7200.0
WORKFLOW = "short"
REQUESTS: Any = Request.__table__
WORKERS: Any = Worker.__table__

# What was due -> how late it was done, in milliseconds; less than 0 is early.
Lateness = dict[str, list[float]]


async def measure(server: PostgresServer, scale: Scale, say: Callable[[str], None]) -> Lateness:
    async with running(server, [DOCPROC], scale, workers=0) as (system,):
        say(f"{OPEN} requests are opened")
        near = await _fill(system, scale.precision_seconds)
        say(f"deadlines pass for {scale.precision_seconds:.0f} s")
        await asyncio.sleep(HEAD_START_SECONDS + scale.precision_seconds)
        while await _unanswered(system, near):
            await asyncio.sleep(0.25)
        return await _lateness(system, near)


async def _fill(system: System, spread: float) -> list[UUID]:
    """Open requests, those with a near deadline first; the planner finds workers and knows their pace."""
    async with system.store.writing() as session:
        router = await system.fleet.app.versions.pin(session, WORKFLOW)
        await rows.insert(session, WORKERS, [_worker()])
        await events.record(session, [_handled(stage) for stage in router.plan.steps])
    chance = random.Random(SEED)
    now = datetime.now(UTC)
    seconds = [HEAD_START_SECONDS + chance.uniform(0, spread) for _ in range(NEAR)]
    seconds += [FAR_SECONDS + chance.uniform(0, FAR_SECONDS) for _ in range(OPEN - NEAR)]
    opened = [
        _request(router.plan.version, checkpoints(now, Sla(deadline_seconds=given), given), now)
        for given in seconds
    ]
    async with system.store.writing() as session:
        await rows.insert(session, REQUESTS, opened)
        waiting = [Outgoing.of(_message(request), "q.sla_read") for request in opened]
        await messages.send(session, waiting, state=MessageState.DELAYED, worker_id=None)
        # Nobody is to work on them.
        await rows.execute(
            session, "UPDATE messages SET available_at = now() + interval '1 day' RETURNING id"
        )
        await rows.execute(session, "UPDATE events SET request_id = :any RETURNING id", any=opened[0]["id"])
    return [request["id"] for request in opened[:NEAR]]


def _worker() -> dict[str, Any]:
    now = datetime.now(UTC)
    about = {"id": "bench", "host": "bench", "pid": 0, "components": ",".join(PATHS), "is_ready": True}
    return {**about, "slots": 2, "started_at": now, "beat_at": now}


def _handled(stage: str) -> events.Event:
    return events.Event(None, "handled", stage=stage, outcome="done", busy_seconds=0.01)


def _request(version: str, times: Checkpoints, now: datetime) -> dict[str, Any]:
    return {
        "id": uuid4(),
        "trace_id": uuid4(),
        "workflow_name": WORKFLOW,
        "workflow_version": version,
        "status": RequestStatus.PROCESSING.value,
        "deadline_utc": times.deadline_utc,
        "sla_seconds": times.sla_seconds,
        "warn_at": times.warn_at,
        "escalate_at": times.escalate_at,
        "next_check_at": times.warn_at,
        "created_at": now,
    }


def _message(request: Mapping[str, Any]) -> PipelineMessage:
    return PipelineMessage(
        request_id=request["id"],
        workflow_name=WORKFLOW,
        workflow_version=request["workflow_version"],
        current_stage="read",
        unit_key="page:0",
        deadline_utc=request["deadline_utc"],
    )


async def _unanswered(system: System, near: list[UUID]) -> int:
    async with system.store.reading() as session:
        (found,) = await rows.execute(
            session,
            "SELECT count(*) AS open FROM requests WHERE id = ANY(:ids) AND breached_at IS NULL",
            ids=near,
        )
    return int(found.open)


async def _lateness(system: System, near: list[UUID]) -> Lateness:
    async with system.store.reading() as session:
        found = await rows.execute(
            session,
            """
            SELECT extract(epoch FROM warned_at - warn_at) * 1000 AS warning,
                   extract(epoch FROM escalated_at - escalate_at) * 1000 AS escalation,
                   extract(epoch FROM pg_xact_commit_timestamp(a.xmin) - deadline_utc) * 1000 AS answer
            FROM requests r JOIN answers a ON a.request_id = r.id AND a.version = 1
            WHERE r.id = ANY(:ids)
            """,
            ids=near,
        )
    kinds = ("warning", "escalation", "answer")
    return {kind: [float(getattr(row, kind)) for row in found] for kind in kinds}


def summary(lateness: list[float]) -> dict[str, float]:
    return {"p50": percentile(lateness, 0.5), "p99": percentile(lateness, 0.99), "max": max(lateness)}
