"""A service in a process of its own, for tests: it answers when it may, and writes down what it began."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from docproc.orchestrator.service import BusinessError, Service

service = Service("agent-execution", at_once=int(os.environ.get("AT_ONCE", "50")))


_looking: asyncio.Task[None] | None = None


async def until_open(gate: Path) -> None:
    """One look for all that wait."""
    global _looking
    if _looking is None or _looking.done():
        _looking = asyncio.create_task(_look(gate))
    await asyncio.shield(_looking)


async def _look(gate: Path) -> None:
    while not gate.exists():
        await asyncio.sleep(0.05)


@service.on("agent.execute")
async def answer(task: Any) -> dict[str, Any]:
    """A file per execution: begun twice is seen from outside, as is the order."""
    ledger = Path(os.environ["LEDGER"])
    with (ledger / "begun").open("a") as lines:
        lines.write(f"{task.envelope.task_id} {task.envelope.metadata.fencing}\n")
    await asyncio.sleep(float(task.payload.get("sleep", 0)))
    await until_open(ledger / "gate")
    if task.payload.get("reports"):
        # Each when the one before was heard of: reports of the same moment may be taken in by two workers,
        # and the lower one does not count after the higher one.
        for percent in (25, 50, 75):
            await task.progress(percent)
            while not (ledger / f"heard-{percent}").exists():
                await asyncio.sleep(0.02)
    if asked := task.payload.get("asks"):
        found = await task.tool("search", {"query": asked}, service="query-service")
        return {"found": found, "pid": os.getpid()}
    if task.payload.get("fails"):
        raise BusinessError("as it was told to", code="NO")
    return {"echo": task.payload.get("n")}


@service.on("agent.notify")
async def undo(task: Any) -> dict[str, Any]:
    """A compensation: a line when it begins and one when it is done, with the number of its envelope."""
    ledger, name = Path(os.environ["LEDGER"]), task.payload["undoes"]
    for word in ("begun", "done"):
        with (ledger / "undone").open("a") as lines:
            lines.write(f"{task.envelope.task_id} {word} {name} {task.envelope.metadata.fencing}\n")
        while word == "begun" and (ledger / f"hold-{name}").exists():
            await asyncio.sleep(0.05)
    return {}


tools = Service("tool-registry")
queries = Service("query-service")


@tools.on("tool.query")
async def available(task: Any) -> dict[str, Any]:
    return {"tools": ["search"], "pid": os.getpid(), "correlation_id": str(task.envelope.correlation_id)}


@queries.on("tool.execute")
async def search(task: Any) -> dict[str, Any]:
    asked = task.payload["arguments"]["query"]
    told = {"pid": os.getpid(), "correlation_id": str(task.envelope.correlation_id)}
    return {"matches": [asked], "context": task.payload["context"], **told}


if __name__ == "__main__":
    {one.name: one for one in (service, tools, queries)}[sys.argv[1]].run()
