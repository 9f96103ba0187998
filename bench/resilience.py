"""Resilience: what the guard around calls costs, how soon replicas share what one learnt, how late retries
are.

    python bench/resilience.py [--calls 5000] [--quick] [--json]

The guard is asked before and told after each of many calls of a service that is well; the raw loop makes the
same calls without it. Then a service fails in one replica until its breaker opens: how long do others call
it? Then a service that is busy asks to be called again half a second later: how much later is it called?
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from bench.fanout import Findings, percentile, say
from bench.servers import PostgresServer, _free_ports
from docproc import logs
from docproc.app import App
from docproc.apps.orchestrator.resilience.calls import Action, Call
from docproc.apps.orchestrator.resilience.failures import Failure, FailureKind
from docproc.apps.orchestrator.resilience.guard import Guard
from docproc.apps.orchestrator.resilience.levels import ServiceLevel, ServicePolicy
from docproc.console.servers import gateway
from docproc.engine.store import migrate
from docproc.engine.store.session import Store
from docproc.http.server import serve
from docproc.orchestrator.service import RetryLater, Service
from docproc.settings import Settings

BUSY_SECONDS = 0.5
DOWN = Failure(FailureKind.STATUS, 503)


async def service() -> None:
    """As little as a call can do: one turn of the loop."""
    await asyncio.sleep(0)


async def raw(calls: int) -> float:
    began = time.perf_counter()
    for _ in range(calls):
        await service()
    return (time.perf_counter() - began) / calls


async def guarded(guard: Guard, policy: ServicePolicy, calls: int) -> float:
    await guard.start()
    began = time.perf_counter()
    for _ in range(calls):
        call = Call(policy, "default", "tool.execute", {"question": "what is there?"})
        decision = await guard.before_call(call)
        assert decision.ticket is not None
        await service()
        await guard.after_call(decision.ticket, policy, seconds=0.001)
    seconds = (time.perf_counter() - began) / calls
    await guard.stop()
    return seconds


async def shared(one: Guard, other: Guard, policy: ServicePolicy) -> float:
    """From the moment the breaker opens here to the first call that is not made there."""
    call = Call(policy, "default", "tool.execute")
    await other.before_call(call)  # it knows that all is well
    for _ in range(policy.breaker_policy.window):
        decision = await one.before_call(call)
        assert decision.ticket is not None
        await one.after_call(decision.ticket, policy, seconds=0.001, failure=DOWN)
    opened = time.perf_counter()
    while (await other.before_call(call)).action is Action.CALL:
        await asyncio.sleep(0.005)
    return time.perf_counter() - opened


async def on_database(findings: Findings, name: str, settings: Settings, calls: int, rounds: int) -> None:
    app = App(settings)
    await migrate.upgrade(app.store, app.applications.migrations)
    other = Store(settings.effective_database_url)
    try:
        seconds = await guarded(Guard(app.store), ServicePolicy("well"), calls)
        findings.add(f"guard {name}", "call_us", seconds * 1e6, "µs")
        waits = []
        for number in range(rounds):
            policy = ServicePolicy(f"failing {number}", ServiceLevel.CRITICAL)
            waits.append(await shared(Guard(app.store), Guard(other), policy))
        findings.add(f"guard {name}", "breaker_shared_p50_s", percentile(waits, 0.5), "s")
        findings.add(f"guard {name}", "breaker_shared_max_s", max(waits), "s")
    finally:
        await other.close()
        await app.close()


# --- retries ----------------------------------------------------------------------------------------


@asynccontextmanager
async def orchestrator(settings: Settings) -> AsyncIterator[str]:
    """API and worker in this process."""
    app, working = App(settings), App(settings)
    await app.prepare_database()
    port = _free_ports(1)[0]
    stopping = asyncio.Event()
    worker = working.worker(["service_call", "task_result"])
    tasks = [
        asyncio.create_task(serve(app, stopping, host="127.0.0.1", port=port, create=gateway)),
        asyncio.create_task(worker.run(stopping)),
    ]
    try:
        while not worker.is_ready:
            await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        stopping.set()
        await asyncio.gather(*tasks)
        await working.close()
        await app.close()


async def lateness(settings: Settings, tasks: int) -> list[float]:
    """How much later than it asked a busy service is called again, in seconds."""
    asked: dict[str, float] = {}
    late: list[float] = []
    busy = Service("tool-registry", at_once=50)

    @busy.on()
    async def answer(task: Any) -> dict[str, Any]:
        key = str(task.envelope.task_id)
        if key not in asked:
            asked[key] = time.perf_counter()
            raise RetryLater(seconds=BUSY_SECONDS)
        late.append(time.perf_counter() - asked[key] - BUSY_SECONDS)
        return {}

    stopping = asyncio.Event()
    async with orchestrator(settings) as url:
        serving = asyncio.create_task(busy.serve(settings, stopping))
        async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
            said = {"type": {"domain": "tool", "action": "execute"}}
            for _ in range(tasks):
                (await client.post("/api/v1/tasks", json=said)).raise_for_status()
                await asyncio.sleep(0.02)
        while len(late) < tasks:
            await asyncio.sleep(0.05)
        stopping.set()
        await serving
    return late


async def measure(calls: int, rounds: int, tasks: int) -> Findings:
    findings = Findings()
    findings.add("raw loop", "call_us", await raw(calls) * 1e6, "µs")
    with TemporaryDirectory() as folder:
        base: dict[str, Any] = {"_env_file": None, "log_level": "error", "orchestrator_samples": "none"}
        sqlite = Settings.load(home=Path(folder) / "guard", **base)
        logs.configure(sqlite, component="bench")
        say("guard on SQLite …")
        await on_database(findings, "sqlite", sqlite, calls, rounds)
        say("retries …")
        # In a world of its own: the services that failed above would have it answered for.
        late = await lateness(Settings.load(home=Path(folder) / "retries", **base), tasks)
        findings.add("orchestrator sqlite", "retry_late_p50_ms", percentile(late, 0.5) * 1000, "ms")
        findings.add("orchestrator sqlite", "retry_late_p99_ms", percentile(late, 0.99) * 1000, "ms")
        if problem := PostgresServer.available():
            findings.skipped["guard postgresql"] = problem
            return findings
        server = PostgresServer(fsync=False)
        server.start()
        try:
            say("guard on PostgreSQL …")
            url = Settings.load(home=Path(folder) / "home", database_url=server.url, **base)
            await on_database(findings, "postgresql", url, calls, rounds)
        finally:
            server.stop()
    return findings


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    options = parser.parse_args()
    calls, rounds, tasks = (1000, 3, 30) if options.quick else (options.calls, 10, 200)
    findings = asyncio.run(measure(calls, rounds, tasks))
    if options.json:
        said = {"results": findings.results, "ratios": findings.ratios, "skipped": findings.skipped}
        print(json.dumps(said))


if __name__ == "__main__":
    main()
