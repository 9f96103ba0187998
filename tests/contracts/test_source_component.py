"""`source_component` says what sent a message (specification §2.3), from the door to a person's answer."""

from __future__ import annotations

import json

from docproc.engine.running.intake import Submission
from tests.harness import Harness

FLOW = """
stages:
  - {name: split, component: split}
  - {name: all, component: gather}
"""


async def _waiting(engine: Harness) -> list[tuple[str, str]]:
    rows = await engine.query("SELECT stage, body FROM messages")
    return [(row.stage, json.loads(row.body)["source_component"]) for row in rows]


async def test_first_message_comes_from_its_door_and_the_next_from_the_router(engine: Harness) -> None:
    engine.workflow("flow", FLOW)
    await engine.app.intake.submit(Submission("flow", {"n": 2}, via="request.new"))
    assert [source for _, source in await _waiting(engine)] == ["api_gateway"]
    await engine.start("workflow_router")

    async def is_routed() -> bool:
        return await _waiting(engine) == [("split", "workflow_router")]

    await engine.until(is_routed, "the router sends it on in its own name")


async def test_door_may_be_another(engine: Harness) -> None:
    engine.workflow("flow", FLOW)
    await engine.app.intake.submit(Submission("flow", {"n": 2}, source_component="material_worker"))
    assert await _waiting(engine) == [("split", "material_worker")]
