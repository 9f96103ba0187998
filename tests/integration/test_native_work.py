"""Heavy work in killable children: it may hang, crash or eat memory, and only its own message suffers."""

from __future__ import annotations

import errno
import os

import psutil
import pytest

from docproc.engine.running import child
from tests.harness import Harness, filled

NATIVE = """
stages:
  - name: native
    component: native
    timeout_seconds: {limit}
    retry: {{attempts: {attempts}, delay_seconds: 0.01}}
"""


async def test_child_that_hangs_is_killed_at_the_time_limit(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("native", NATIVE.format(limit=3, attempts=1))
    await sqlite_engine.start("native")
    well = await sqlite_engine.run("native", behave="well")
    child = psutil.Process(int(filled(well.result_payload)["found"].partition(":")[2]))
    request = await sqlite_engine.run("native", behave="hang")
    assert request.status == "failed"
    assert "timeout_seconds (3 s)" in filled(request.error)["message"]
    await sqlite_engine.until(lambda: not child.is_running(), "the hanging child is gone")
    assert (await sqlite_engine.run("native", behave="well")).status == "completed"


async def test_child_that_dies_costs_an_attempt_and_not_the_worker(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("native", NATIVE.format(limit=30, attempts=2))
    await sqlite_engine.start("native")
    request = await sqlite_engine.run("native", behave="die")
    assert request.status == "failed"
    assert "child process running native died" in filled(request.error)["message"]
    attempts = [event.attempt for event in await sqlite_engine.events(request.id, "handled")]
    assert attempts == [1, 2]
    assert (await sqlite_engine.run("native", behave="well")).status == "completed"


async def test_child_that_eats_memory_is_stopped_by_its_limit(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("native", NATIVE.format(limit=30, attempts=1))
    await sqlite_engine.start("native")
    request = await sqlite_engine.run("native", behave="eat")
    assert request.status == "failed"
    assert "MemoryError" in filled(request.error)["message"]
    assert (await sqlite_engine.run("native", behave="well")).status == "completed"


async def test_killed_idle_child_costs_nothing(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("native", NATIVE.format(limit=30, attempts=1))
    _, worker, _, _ = await sqlite_engine.start("native")
    for _ in range(2):
        well = await sqlite_engine.run("native", behave="well")
        psutil.Process(int(filled(well.result_payload)["found"].partition(":")[2])).kill()
        assert worker.is_ready
    request = await sqlite_engine.run("native", behave="well")
    assert request.status == "completed"
    assert [event.attempt for event in await sqlite_engine.events(request.id, "handled")] == [1]


async def test_children_that_cannot_be_started_cost_time_and_no_attempt(
    sqlite_engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_process: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    sqlite_engine.workflow("native", NATIVE.format(limit=30, attempts=1))
    _, worker, _, _ = await sqlite_engine.start("native")
    with monkeypatch.context() as patch:
        patch.setattr(child._SPAWN.Process, "start", start)
        request_id = await sqlite_engine.submit("native", behave="well")

        async def put_off() -> bool:
            return len(await sqlite_engine.events(request_id, "handled")) >= 2

        await sqlite_engine.until(put_off, "it was tried and put off twice")
        assert not worker.is_ready
    request = await sqlite_engine.finished(request_id)
    assert request.status == "completed"
    assert {event.attempt for event in await sqlite_engine.events(request_id, "handled")} == {1}
    assert worker.is_ready
