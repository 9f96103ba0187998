"""The engine's promises, on every combination of database and transport."""

from __future__ import annotations

from tests.harness import Harness

FAN = """
stages:
  - {name: split, component: split}
  - {name: first, component: work}
  - {name: second, component: work}
  - {name: gather, component: gather}
"""


async def test_request_runs_through_fan_out_and_join(engine: Harness) -> None:
    engine.workflow("fan", FAN)
    await engine.start()
    request = await engine.run("fan", n=7)
    assert request.status == "completed"
    assert request.result_payload["units"] == sorted(f"item:{i}" for i in range(7))
    assert request.result_payload["done"]["item:3"] == ["first", "second"]
    assert await engine.query("SELECT count(*) AS n FROM messages") == [(0,)]
