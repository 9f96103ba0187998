"""Real processes die by kill -9 and others take their work over, without a supervisor's help."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from bench.fleet import Fleet
from docproc.engine.store import rows
from tests.components import PATHS

SLOW = "name: slow\nstages: [{name: slow, component: slow}]\n"


def variables_for(combination: str, request: pytest.FixtureRequest) -> dict[str, str]:
    variables = {}
    if combination.startswith("postgresql"):
        variables["DOCPROC_DATABASE_URL"] = request.getfixturevalue("postgres_url")
    if combination.endswith("rabbitmq"):
        variables["DOCPROC_RABBITMQ_URL"] = request.getfixturevalue("rabbitmq_url")
    if combination.endswith("redis"):
        variables["DOCPROC_REDIS_URL"] = request.getfixturevalue("redis_url")
    return variables


@pytest.fixture
def variables(combination: str, request: pytest.FixtureRequest) -> dict[str, str]:
    return variables_for(combination, request)


async def test_work_of_a_killed_process_is_taken_over_within_five_seconds(
    variables: dict[str, str], tmp_path: Path
) -> None:
    slow = {"slow": PATHS["slow"]}
    fleet = Fleet(variables, slow, {"slow": SLOW}, folder=tmp_path)
    await fleet.open()
    try:
        doomed = await fleet.spawn()
        await fleet.until_ready(1)
        # Long enough to be killed in the middle, short enough for the heir to do it again.
        request_id = await fleet.submit("slow", sleep=0.5)
        await _until_handling(fleet)
        doomed.kill()
        died = time.monotonic()
        await doomed.wait()
        await fleet.spawn()
        assert await fleet.finished(request_id, 20) == "completed"
        # Four seconds to be sure that it is dead, the work itself, and the heir's own start beside it.
        assert time.monotonic() - died < 6.5
    finally:
        await fleet.close()


async def _until_handling(fleet: Fleet) -> None:
    """The message is leased, or (with a broker) no longer waiting in its queue."""
    if fleet.app.transport.has_broker:
        await asyncio.sleep(0.2)  # consumed within milliseconds; killing earlier would only be easier
        return
    async with asyncio.timeout(10):
        while True:
            async with fleet.app.store.reading() as session:
                (row,) = await rows.execute(session, "SELECT state FROM messages")
            if row.state == "leased":
                return
            await asyncio.sleep(0.01)
