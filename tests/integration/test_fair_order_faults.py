"""Tenants that share workers, with workers killed under them: nothing is stranded, nothing is done twice."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import func, select

from bench import graph
from bench.fleet import COMBINATIONS, Fleet, addresses, running
from docproc.engine.running.intake import Submission
from docproc.engine.store import tenants
from docproc.engine.store.tables import AggregationState, Event, Message, Request
from tests import services


@pytest.fixture(params=COMBINATIONS)
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Fleet]:
    if "postgresql" in request.param:
        services.require(services.postgres_problem())
    if "rabbitmq" in request.param:
        services.require(services.rabbitmq_problem())
    # Unchained, so that most messages go through the queues.
    settings = {"DOCPROC_CHAINING": "off", "DOCPROC_DATABASE_CONNECTIONS": "3"}
    with addresses(request.param) as variables:
        yield Fleet({**variables, **settings}, graph.PATHS, {"fanout": graph.FANOUT}, folder=tmp_path)


async def test_killed_workers_strand_no_tenant_s_messages(fleet: Fleet) -> None:
    async with running(fleet):
        async with fleet.app.store.writing() as session:
            for name in ("a", "b"):
                await tenants.add(session, name)
        sent: list[UUID] = []
        for turn in range(16):
            tenant, pages = ("b", 5) if turn % 4 == 3 else ("a", 60)
            submission = Submission("fanout", {"pages": pages}, tenant_id=tenant)
            sent.append(await fleet.app.intake.submit(submission))
            if turn in (6, 10):
                fleet.processes[0 if turn == 6 else 1].send_signal(signal.SIGKILL)
                await fleet.spawn()
        statuses = await asyncio.gather(*(fleet.finished(one, 60) for one in sent))
        assert set(statuses) == {"completed"}
        async with fleet.app.store.reading() as session:
            assert await session.scalar(select(func.count()).select_from(Message)) == 0
            joins = list(await session.scalars(select(AggregationState)))
            handled = select(Event.message_id).where(Event.kind == "handled", Event.outcome == "done")
            ids = list(await session.scalars(handled))
            assert await session.scalar(select(func.count()).select_from(Request)) == len(sent)
    assert len(ids) == len(set(ids)), "no message had its effects twice"
    assert all(join.is_complete and join.received_count == join.expected_count for join in joins)
