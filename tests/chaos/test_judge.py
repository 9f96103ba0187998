"""The bench's own instruments: a judge that lets everything pass would make every run a good one."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from bench.chaos import Outcome
from bench.chaos_faults import recovery_seconds
from bench.chaos_judge import FALSE_READY_SECONDS, Judge, Span
from bench.machine import Disk, Machine
from bench.proxy import Proxy
from docproc.engine.message import utc_now
from docproc.engine.store.tables import Request
from tests.harness import Harness, opened, settings_for


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Harness]:
    async with opened(settings_for(tmp_path)) as engine:
        yield engine


async def _yes() -> bool:
    return True


async def _nothing() -> None:
    return None


@pytest.fixture
def judge(engine: Harness, tmp_path: Path) -> Judge:
    return Judge(engine.app.store, Machine(tmp_path, "docproc"), _nothing, _yes)


async def _accepted(judge: Judge, deadline: datetime) -> UUID:
    """Answered two seconds ago, and last seen without an answer just before."""
    request_id = uuid4()
    async with judge.store.writing() as session:
        session.add(
            Request(
                id=request_id,
                tenant_id="default",
                workflow_name="chaos",
                status="completed",
                deadline_utc=deadline,
            )
        )
    judge.accepted(request_id, "chaos")
    watched = judge.requests[request_id]
    now = time.monotonic()
    watched.accepted_at = now - 100
    watched.unanswered_at, watched.answered_at = now - 2.1, now - 2
    return request_id


async def test_answer_after_the_deadline_needs_a_reason(judge: Judge) -> None:
    now = time.monotonic()
    await _accepted(judge, utc_now() + timedelta(seconds=10))
    assert await judge.verdict() == (0, []), "in time"
    await _accepted(judge, utc_now() - timedelta(seconds=30))
    late, broken = await judge.verdict()
    assert (late, len(broken)) == (0, 1)
    # The database was away at the deadline and came back six seconds before the answer: too long ago.
    judge.spans = [Span("no writes", now - 40, now - 8)]
    assert (await judge.verdict())[0] == 0
    judge.spans = [Span("no writes", now - 40, now - 6)]
    assert await judge.verdict() == (1, [])
    # Away long before the deadline, or only after the answer was due anyway: no reason.
    judge.spans = [Span("no writes", now - 80, now - 50), Span("no writes", now - 10, now - 3)]
    assert (await judge.verdict())[0] == 0


async def test_ready_while_nothing_moves_is_noticed(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.chaos_judge.FALSE_READY_SECONDS", 0.6)
    assert FALSE_READY_SECONDS > 0.6
    watching = asyncio.create_task(judge._watch_readiness())
    await asyncio.sleep(1.2)
    assert not judge.false_ready, "nothing was to be done"
    judge.accepted(uuid4(), "chaos")
    await asyncio.sleep(1.2)
    watching.cancel()
    assert judge.false_ready


def test_deadline_follows_a_clock_that_is_set(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "docproc")
    now, wall = time.monotonic(), time.time()
    assert machine.clock_shows(wall - 5, since=now - 60) == pytest.approx(now - 5, abs=0.1)
    assert machine.clock_shows(wall + 30, since=now) == float("inf")
    machine.set_clock(7200.0)
    # Set over the deadline: reached at that moment.
    assert machine.clock_shows(wall + 30, since=now) == pytest.approx(time.monotonic(), abs=0.1)
    machine.set_clock(0.0)
    later = time.monotonic()
    # It showed that once, but before the request came.
    assert machine.clock_shows(wall + 7200, since=later) == float("inf")


def test_machine_sets_the_clock_and_slows_the_disk(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "docproc")
    if machine.missing:
        pytest.skip(machine.missing)
    machine.set_clock(-7200.0)
    machine.slow_down(0.3)
    program = (
        "import os, sys, time, tempfile\n"
        "began = time.monotonic()\n"
        "with tempfile.TemporaryFile() as file: os.fsync(file.fileno())\n"
        "print(time.time(), time.monotonic() - began)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=machine.variables, capture_output=True, text=True, check=True
    )
    told, took = map(float, done.stdout.split())
    assert told == pytest.approx(time.time() - 7200, abs=10)
    assert took >= 0.3


def test_disk_is_full_until_there_is_room(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk", 4)
    if disk.missing:
        pytest.skip(disk.missing)
    try:
        disk.fill()
        with pytest.raises(OSError, match="No space left"):
            (disk.path / "more").write_bytes(bytes(8192))
        disk.make_room()
        (disk.path / "more").write_bytes(bytes(8192))
    finally:
        disk.close()


async def test_proxy_holds_throttles_and_half_closes() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1000):
                writer.write(data)
        writer.close()
        ended.set()

    ended = asyncio.Event()
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, Proxy(server.sockets[0].getsockname()[1]) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        proxy.hold()
        writer.write(b"x")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(reading := asyncio.ensure_future(reader.read(1))), 0.2)
        proxy.go_on()
        assert await reading == b"x"
        proxy.bytes_per_second = 1000
        began = time.monotonic()
        writer.write(bytes(200))
        await reader.readexactly(200)
        assert time.monotonic() - began >= 0.2
        proxy.bytes_per_second = None
        assert proxy.half_close() == 1
        assert await reader.read() == b""
        writer.close()
        await ended.wait()


def test_every_broken_promise_fails_the_run() -> None:
    assert Outcome("sql/sqlite", 1, accepted=3, answered=3, late=2).passed
    assert not Outcome("sql/sqlite", 1, accepted=3, answered=2).passed
    for name in ("lost", "duplicated", "stuck", "overdue", "false_ready"):
        outcome = Outcome("sql/sqlite", 1, accepted=3, answered=3)
        setattr(outcome, name, 1)
        assert not outcome.passed
    assert recovery_seconds("restart_broker") == 15
    assert recovery_seconds("throttle_rabbitmq") == recovery_seconds("kill_everything") == 10
