"""Chaos, short: a few faults by a fixed seed against a loaded deployment. Long runs: bench/chaos.py."""

from __future__ import annotations

import pytest

from bench.chaos import Chaos
from bench.servers import PostgresServer, RabbitServer
from tests import services

# Kinds that no other test has: three of them come, in the seed's order.
KINDS = {
    "sql/sqlite": ("kill_a_part", "fill_disk", "set_clock", "slow_fsync"),
    "rabbitmq/postgresql": ("delete_a_queue", "hold_postgresql", "kill_children", "half_close_rabbitmq"),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("system", "seed"), [("sql/sqlite", 1), ("rabbitmq/postgresql", 3)])
async def test_what_was_accepted_is_answered_once(system: str, seed: int) -> None:
    if "postgresql" in system:
        services.require(PostgresServer.available())
    if "rabbitmq" in system:
        services.require(RabbitServer.available())
    chaos = Chaos(system, seed, lambda _: None, KINDS[system], waiting_share=0.0)
    outcome = await chaos.attack(number=3)
    assert outcome.faults == 3
    assert outcome.passed, outcome
    assert outcome.accepted > 0
