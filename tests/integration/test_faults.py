"""The fault bench, short: killed processes, restarted servers, doubled deliveries, and an exact ledger."""

from __future__ import annotations

from collections import Counter
from uuid import uuid4

import pytest

from bench import faults
from bench.servers import PostgresServer, RabbitServer
from tests import services


@pytest.mark.timeout(300)
@pytest.mark.parametrize("system", faults.SYSTEMS)
async def test_nothing_is_lost_or_doubled_under_fire(system: str) -> None:
    if "postgresql" in system:
        services.require(PostgresServer.available())
    if "rabbitmq" in system:
        services.require(RabbitServer.available())
    report = await faults.Run(system, faults.QUICK, lambda _: None).run()
    assert (report.lost, report.duplicated) == (0, 0), report.problems
    assert report.answered == report.accepted == faults.QUICK.requests
    assert report.kills >= faults.QUICK.kills
    # The bench holds it to five seconds; a loaded CI machine may take longer to start the heirs.
    assert report.takeover_s < 15


def test_a_lost_and_a_doubled_effect_are_noticed() -> None:
    """The ledger itself must be able to fail."""
    run = faults.Run("sql/sqlite", faults.QUICK, lambda _: None)
    run.corrected = set()
    effects = list(run._effects(uuid4(), units=2))
    assert ("first", 1) in effects and ("side", 0) in effects and ("side", 1) not in effects
    run._note("lost", Counter({("request", "first", 0): 1}))
    run._note("duplicated", Counter({("request", "first", 1): 2}))
    assert (run.report.lost, run.report.duplicated) == (1, 2)
    assert not run.report.passed
