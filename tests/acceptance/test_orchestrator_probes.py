"""Services that nobody calls are probed: what is told of them is true, and failover ends when it should."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import yaml
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from bench.servers import _free_ports
from docproc.apps.orchestrator import chores
from docproc.engine.message import utc_now
from tests.harness import Harness
from tests.orchestration import Orchestrator, orchestrator

BOTH = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+redis"])
START = {"domain": "workflow", "action": "start"}
PORT = _free_ports(1)[0]


@pytest.fixture(autouse=True)
def _configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the settings are read."""
    services = tmp_path / "services.yaml"
    one = {
        "name": "workflow-engine",
        "url": f"http://127.0.0.1:{PORT}/first",
        "standby_url": f"http://127.0.0.1:{PORT}/second",
        "health_url": f"http://127.0.0.1:{PORT}/health",
        "breaker": {"reset_seconds": 0.2, "probe_seconds": 0.2},
    }
    # Nobody ever calls this one, and it has nobody to stand in for it.
    alone = {**one, "name": "tool-registry", "url": None, "standby_url": None}
    services.write_text(yaml.safe_dump({"services": [one, alone]}))
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SAMPLES", "none")
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SERVICES", str(services))
    monkeypatch.setenv("DOCPROC_ALERT_INTERVAL_SECONDS", "0.5")
    monkeypatch.setattr(chores, "LOOK_SECONDS", 0.05)


class Endpoints:
    """A service of another make, with a second endpoint elsewhere."""

    def __init__(self) -> None:
        self.is_well = True
        self.asked: Counter[str] = Counter()


@asynccontextmanager
async def endpoints() -> AsyncIterator[Endpoints]:
    found = Endpoints()
    app = FastAPI()

    @app.get("/health")
    async def health() -> Any:
        found.asked["health"] += 1
        return JSONResponse({}, status_code=200 if found.is_well else 503)

    @app.post("/{name}")
    async def called(name: str) -> Any:
        found.asked[name] += 1
        return {"by": name}

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=PORT, log_level="error"))
    serving = asyncio.create_task(server.serve())
    try:
        yield found
    finally:
        server.should_exit = True
        await serving


async def _until_health(
    running: Orchestrator, wanted: str, service: str = "workflow-engine"
) -> dict[str, Any]:
    found: dict[str, Any] = {}

    async def is_so() -> bool:
        services = (await running.http.get("/api/v1/services")).json()["services"]
        found.update(next(one for one in services if one["name"] == service))
        return bool(found["health"] == wanted)

    await running.harness.until(is_so, f"the service is {wanted}")
    return found


async def _until_available(running: Orchestrator, wanted: float) -> None:
    """The metric `service.availability` of the service that nobody calls."""

    async def is_so() -> bool:
        metrics = (await running.http.get("/monitor/metrics?metric=service.availability")).json()["metrics"]
        return any(
            one["labels"].get("service") == "tool-registry" and one["value"] == wanted for one in metrics
        )

    await running.harness.until(is_so, f"its availability is {wanted}")


async def _called(running: Orchestrator) -> str:
    task = await running.ended((await running.submit(type=START))["task_id"])
    return str(task["result"]["results"]["start"]["by"])


@BOTH
async def test_idle_service_is_probed_and_its_calls_go_where_somebody_is(engine: Harness) -> None:
    async with endpoints() as service, orchestrator(engine, workers=2) as running:
        assert (await _until_health(running, "up"))["breaker"] == "closed"
        assert await _called(running) == "first"
        service.is_well = False
        # Nobody calls: it is found to be down all the same, by one process for all.
        told = await _until_health(running, "standby")
        assert told["breaker"] != "closed" and service.asked["first"] == 1

        async def is_second() -> bool:  # replicas look at breakers once a second
            return await _called(running) == "second"

        await engine.until(is_second, "calls go to the second endpoint")
        asked = service.asked["first"]
        await _until_health(running, "down", "tool-registry")
        await _until_available(running, 0)
        service.is_well = True
        await _until_available(running, 1)
        await _until_health(running, "up")
        assert service.asked["first"] == asked, "a probe, and no call, found out"

        async def is_first() -> bool:
            return await _called(running) == "first"

        await engine.until(is_first, "calls go to the first endpoint again")
        holders = await engine.query("SELECT holder FROM duties WHERE name = 'orchestrator'")
        assert len(holders) == 1


@pytest.mark.parametrize("combination", ["sqlite+sql"])
async def test_sessions_that_are_over_are_forgotten(engine: Harness) -> None:
    """But for those with a task that still runs."""
    async with orchestrator(engine, workers=0) as running:
        for name in ("over", "runs", "young"):
            await running.submit(type=START, session_id=name)
        past = utc_now() - timedelta(seconds=1)
        table = "UPDATE orchestrator_sessions SET expires_at = :past WHERE session_id IN ('over', 'runs')"
        await engine.query(table, past=past)
        await engine.query(
            "UPDATE requests SET completed_at = :past WHERE id = "
            "(SELECT request_id FROM orchestrator_tasks WHERE session_id = 'over')",
            past=past,
        )
        worker = await engine.start("service_call")

        async def left() -> set[str]:
            return {
                row.session_id for row in await engine.query("SELECT session_id FROM orchestrator_sessions")
            }

        async def is_forgotten() -> bool:
            return await left() == {"runs", "young"}

        await engine.until(is_forgotten, "the session is forgotten")
        await engine.stop(worker)
        assert (await running.http.get("/api/v1/sessions/over")).status_code == 404
