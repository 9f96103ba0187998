"""A component that sorts a batch into light and heavy: nothing is lost, and the heavy are alone."""

from __future__ import annotations

from typing import Any

from tests.harness import Harness, filled

FLOW = """
stages:
  - {name: split, component: split}
  - {name: choose, component: choosy}
  - {name: all, component: collect}
"""


async def sizes(engine: Harness, **payload: Any) -> dict[int, int]:
    """How many were handled together with each item."""
    engine.workflow("choosing", FLOW)
    request_id = await engine.submit("choosing", n=40, **payload)
    await engine.start("split", "choosy", "collect")
    request = await engine.finished(request_id)
    assert request.status == "completed", request.error
    handled = [e.unit_key for e in await engine.events(request_id, "handled") if e.stage == "choose"]
    assert sorted(handled) == sorted(f"item:{i}" for i in range(40))
    units = filled(request.result_payload)["units"].values()
    return {unit["index"]: unit["together"] for unit in units}


async def test_light_messages_are_handled_together_and_heavy_ones_alone(engine: Harness) -> None:
    together = await sizes(engine)
    assert len(together) == 40
    assert all(number == 1 for index, number in together.items() if index % 2)
    light = [number for index, number in together.items() if index % 2 == 0]
    if engine.app.transport.has_broker:  # one at a time: a broker cannot take messages back cheaply
        assert set(light) == {1}
    else:
        assert max(light) > 1


async def test_choice_that_fails_costs_only_the_grouping(engine: Harness) -> None:
    together = await sizes(engine, confused=True)
    assert set(together.values()) == {1}
