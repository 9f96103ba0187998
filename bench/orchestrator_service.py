"""The service that bench/orchestrator.py calls: it answers what it was asked."""

from __future__ import annotations

from typing import Any

from bench.orchestrator_peers import work
from docproc.orchestrator.service import Service

service = Service("agent-execution", at_once=100)


@service.on("agent.execute")
async def echo(task: Any) -> Any:
    return work(task.payload)


if __name__ == "__main__":
    service.run()
