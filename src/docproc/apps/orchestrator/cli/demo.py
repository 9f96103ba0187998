"""`docproc orchestrator demo`: everything on this machine, one task of several services, followed live."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import typer
from rich.markup import escape

from docproc.errors import UsageError
from docproc.terminal.output import console, print_json, run_async
from docproc.terminal.signals import stop_on_signals

SESSION = "demo"
START_SECONDS = 60.0
TASK_SECONDS = 60.0
# What §4.2 of the specification draws: agent and tools side by side, the agent asks for a tool in between.
PLAN: dict[str, Any] = {
    "steps": [
        {
            "name": "agent",
            "type": {"domain": "agent", "action": "execute"},
            "payload": {
                "prompt": "Find the needle",
                "use_tool": {"tool": "search", "service": "query-service", "arguments": {"query": "needle"}},
            },
        },
        {"name": "tools", "type": {"domain": "tool", "action": "query"}, "service": "tool-registry"},
        {
            "name": "remember",
            "type": {"domain": "conversation", "action": "update"},
            "after": ["agent", "tools"],
        },
    ]
}


def demo(
    home: Path = typer.Option(None, "--home", file_okay=False, help="Where data lies (default a new folder)"),
    port: int = typer.Option(0, "--port", min=0, max=65535, help="Of the API; 0 takes any"),
    as_json: bool = typer.Option(False, "--json", help="Print the finished task and end"),
) -> None:
    """Start DocProc with sample services, submit a task and follow it. No Redis is needed."""
    sys.exit(run_async(_demo(home, port, as_json)))


async def _demo(home: Path | None, port: int, as_json: bool) -> int:
    stopping = stop_on_signals(once=True)
    with tempfile.TemporaryDirectory(prefix="docproc-demo-") as folder:
        started = _running(home or Path(folder), port or _free_port())
        async with started as (client, process):
            await _until_ready(client, process)
            answer = await client.post("/api/v1/tasks", json={"plan": PLAN, "session_id": SESSION})
            accepted = answer.json()
            if not as_json:
                console.print(
                    f"page               [bold]{escape(str(client.base_url).rstrip('/'))}/orchestrator[/]"
                )
                console.print(f"accepted           {accepted['task_id']}, before any work started")
            task = await _followed(client, accepted["task_id"], quiet=as_json)
            if as_json:
                print_json(task)
                return 0 if task["status"] == "completed" else 1
            console.print(f"[bold]{task['status']}[/]: {escape(json.dumps(task['result']['results']))}")
            console.print("Submit more on the page. Stop with Ctrl-C.")
            waits = {asyncio.ensure_future(stopping.wait()), asyncio.ensure_future(process.wait())}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for one in waits:
                one.cancel()
    return 0


@asynccontextmanager
async def _running(
    home: Path, port: int
) -> AsyncIterator[tuple[httpx.AsyncClient, asyncio.subprocess.Process]]:
    """`docproc up` with this application alone, in a process of its own, ended with this one."""
    # Whatever this machine's deployment is set to: the demo is one of its own. Empty counts as unset.
    inherited = {name: "" if name.startswith("DOCPROC_") else value for name, value in os.environ.items()}
    environment = {
        **inherited,
        "DOCPROC_APPLICATIONS": "orchestrator",
        # Flows of other applications would only be complained about.
        "DOCPROC_WORKFLOWS_DIR": str(home / "workflows"),
        "DOCPROC_LOG_LEVEL": "error",
        "DOCPROC_BACKOFFICE_PORT": "0",
        "DOCPROC_HEALTH_PORT": "0",
    }
    command = (sys.executable, "-c", "from docproc.cli.start import main; main()")
    process = await asyncio.create_subprocess_exec(
        *command, "up", "--home", str(home), "--port", str(port), "--review", "flag",
        env=environment, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=30) as client:
            yield client, process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _until_ready(client: httpx.AsyncClient, process: asyncio.subprocess.Process) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(START_SECONDS):
            while process.returncode is None:
                with suppress(httpx.TransportError):
                    if (await client.get("/ready")).status_code == 200:
                        return
                await asyncio.sleep(0.1)
    raise UsageError("the demo did not start", remedy="Run docproc up and look at what it says")


async def _followed(client: httpx.AsyncClient, task_id: str, *, quiet: bool) -> dict[str, Any]:
    """Its events as they come, to the end; then the task."""
    address = f"/api/v1/sessions/{SESSION}/stream"
    async with (
        asyncio.timeout(TASK_SECONDS),
        client.stream("GET", address, params={"after": "0.0"}) as answer,
    ):
        async for line in answer.aiter_lines():
            if not line.startswith("data: "):
                continue
            event = json.loads(line.removeprefix("data: "))
            if not quiet:
                detail = event.get("percent", event.get("data", {}).get("service", ""))
                console.print(f"{event['type']:18} {event.get('step', ''):10} {detail}", highlight=False)
            if event["type"] in ("task.completed", "task.failed"):
                break
    found: dict[str, Any] = (await client.get(f"/api/v1/tasks/{task_id}")).json()
    return found


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
