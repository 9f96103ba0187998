"""Chaos, short: a few faults by a fixed seed against a loaded deployment. Long runs: bench/chaos.py."""

from __future__ import annotations

import pytest

from bench.chaos import Chaos
from bench.servers import PostgresServer, RabbitServer
from tests import services

# Kinds that few other tests have; those that this machine cannot suffer are left out.
KINDS = {
    "sql/sqlite": ("fill_disk", "kill_a_part", "set_clock"),
    "rabbitmq/postgresql": ("delete_a_queue", "half_close_rabbitmq"),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("system", "seed"), [("sql/sqlite", 1), ("rabbitmq/postgresql", 3)])
async def test_what_was_accepted_is_answered_once(system: str, seed: int) -> None:
    if "postgresql" in system:
        services.require(PostgresServer.available())
    if "rabbitmq" in system:
        services.require(RabbitServer.available())
    chaos = Chaos(system, seed, lambda _: None, KINDS[system], waiting_share=0.0)
    number = len(KINDS[system])
    outcome = await chaos.attack(number=number)
    assert outcome.faults == number
    assert outcome.passed, outcome
    assert outcome.accepted > 0
