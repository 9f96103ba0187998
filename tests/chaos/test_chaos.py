"""Chaos, short: a few faults by a fixed seed against a loaded deployment. Long runs: bench/chaos.py."""

from __future__ import annotations

import pytest

from bench.chaos import Chaos
from bench.servers import PostgresServer, RabbitServer
from tests import services


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("system", "seed"), [("sql/sqlite", 1), ("rabbitmq/postgresql", 3)])
async def test_what_was_accepted_is_answered_once(system: str, seed: int) -> None:
    if "postgresql" in system:
        services.require(PostgresServer.available())
    if "rabbitmq" in system:
        services.require(RabbitServer.available())
    outcome = await Chaos(system, seed, lambda _: None).attack(number=3)
    assert outcome.passed, outcome.told
    assert outcome.answered == outcome.accepted > 0
