"""Services in processes and languages of their own: the examples of the docs, run as they are."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import uvicorn
from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import JSONResponse

from bench.servers import _free_ports
from tests import services
from tests.harness import Harness
from tests.orchestration import Orchestrator, orchestrator

EXAMPLES = Path(__file__).parents[2] / "examples" / "orchestrator"
ONE = pytest.mark.parametrize("combination", ["sqlite+sql"])
TOOL = {"domain": "tool", "action": "execute"}


@pytest.fixture(autouse=True)
def _samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SAMPLES", "query-service")


@pytest.fixture
async def running(engine: Harness) -> AsyncIterator[Orchestrator]:
    async with orchestrator(engine) as found:
        yield found


@contextlib.asynccontextmanager
async def process(
    running: Orchestrator, *command: str, folder: Path | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A service that is ended whatever happens."""
    environment = {
        **os.environ,
        "DOCPROC_SERVER": running.url,
        "DOCPROC_HOME": str(running.harness.settings.home),
    }
    started = await asyncio.create_subprocess_exec(*command, env=environment, cwd=folder)
    try:
        yield started
    finally:
        if started.returncode is None:
            started.terminate()
        assert await asyncio.wait_for(started.wait(), 20) in (0, -15)


@ONE
async def test_python_example_serves_in_a_process_of_its_own(running: Orchestrator) -> None:
    async with process(running, sys.executable, str(EXAMPLES / "word_count.py")):
        good = await running.submit(type=TOOL, payload={"text": "one two three"})
        bad = await running.submit(type=TOOL, payload={})
        done = await running.ended(good["task_id"])
        refused = await running.ended(bad["task_id"])
    assert done["result"]["results"]["execute"] == {"words": 3}
    assert refused["error"]["code"] == "NO_TEXT"


@ONE
async def test_node_example_serves_and_asks_for_a_tool(running: Orchestrator) -> None:
    node = shutil.which("node")
    services.require(None if node else "node is not installed")
    assert node is not None
    async with process(running, node, str(EXAMPLES / "word_count.mjs")):
        good = await running.submit(type=TOOL, payload={"text": "one two three"})
        asks = await running.submit(type=TOOL, payload={"of": "somewhere else"})
        done = await running.ended(good["task_id"])
        found = await running.ended(asks["task_id"])
    assert done["result"]["results"]["execute"] == {"words": 3}
    assert found["result"]["results"]["execute"] == {"words": 2}
    assert {one["service"] for one in found["delegated_services"]} == {"tool-registry", "query-service"}


async def _rest_and_websocket(port: int) -> uvicorn.Server:
    """Two services of another make: one answers over REST, one over WebSocket."""
    app = FastAPI()
    tries: list[str] = []

    @app.post("/workflows")
    async def workflows(request: Request) -> Any:
        envelope = await request.json()
        tries.append(request.headers["x-correlation-id"])
        if envelope["payload"].get("refuse"):
            return JSONResponse({"problem": "no"}, status_code=422)
        if len(tries) == 1:
            return JSONResponse({}, status_code=503)
        return {"did": envelope["type"]["action"], "try": len(tries)}

    @app.websocket("/agents")
    async def agents(socket: WebSocket) -> None:
        await socket.accept()
        envelope = json.loads(await socket.receive_text())
        for status, payload in (("processing", {"progress": 40}), ("completed", {"by": "websocket"})):
            said = {**envelope, "message_id": str(uuid4()), "status": status, "payload": payload}
            said.pop("expires_at")
            await socket.send_json(said)
        await socket.close()

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    return server


@pytest.fixture
def addressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Before the settings are read: where two services are."""
    port = _free_ports(1)[0]
    file = tmp_path / "services.yaml"
    file.write_text(
        f"""
services:
  - {{name: workflow-engine, url: "http://127.0.0.1:{port}/workflows"}}
  - {{name: agent-execution, url: "ws://127.0.0.1:{port}/agents"}}
"""
    )
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SERVICES", str(file))
    return port


@ONE
async def test_services_with_an_address_are_called_over_rest_and_websocket(
    addressed: int, engine: Harness
) -> None:
    server = await _rest_and_websocket(addressed)
    serving = asyncio.create_task(server.serve())
    await engine.until(lambda: server.started, "the services listen")
    async with orchestrator(engine) as running:
        agent = await running.submit(type={"domain": "agent", "action": "execute"}, session_id="a")
        rest = await running.submit(type={"domain": "workflow", "action": "start"}, priority=0)
        by_socket = await running.ended(agent["task_id"])
        by_rest = await running.ended(rest["task_id"])
        refused = await running.submit(
            type={"domain": "workflow", "action": "start"}, priority=0, payload={"refuse": True}
        )
        failed = await running.ended(refused["task_id"])
        async with running.following("a", after="0.0") as (_, told):
            pass
    server.should_exit = True
    await serving
    assert by_socket["result"]["results"]["execute"] == {"by": "websocket"}
    assert [one["percent"] for one in told if "percent" in one] == [40, 100]
    # 503 is tried again, 422 is not.
    assert by_rest["result"]["results"]["start"] == {"did": "start", "try": 2}
    assert failed["error"]["code"] == "HTTP_422" and failed["steps"][0]["attempt"] == 1


BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def agent_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SAMPLES", "agent-execution")


@ONE
async def test_guide_to_a_service_and_a_flow_works_to_the_letter(
    agent_sample: None, engine: Harness, tmp_path: Path
) -> None:
    page = EXAMPLES.parents[1] / "docs" / "how-to" / "write-a-service.md"
    files = dict(BLOCK.findall(page.read_text(encoding="utf-8")))
    (tmp_path / "words.py").write_text(files["words.py"])
    (engine.settings.workflows_dir / "counted.yaml").write_text(files["counted.yaml"])
    code = "from docproc.cli.start import main; main()"
    async with orchestrator(engine) as running:
        command = (sys.executable, "-c", code, "orchestrator", "serve", "words:service")
        async with process(running, *command, folder=tmp_path):
            one = await running.submit(type=TOOL, payload={"text": "one two three"})
            flow = await running.submit(flow="counted")
            counted, written = await running.ended(one["task_id"]), await running.ended(flow["task_id"])
    assert counted["result"]["results"]["execute"] == {"words": 3}
    assert written["result"]["results"]["write"] == {"answer": "You said: Hello there"}
    assert written["result"]["results"]["count"] == {"words": 4}


async def test_demo_runs_everything_by_one_command(tmp_path: Path) -> None:
    """No Redis, no settings: three services and a tool, the result as JSON."""
    code = "from docproc.cli.start import main; main()"
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, "orchestrator", "demo", "--json",
        cwd=tmp_path, stdout=asyncio.subprocess.PIPE, env={**os.environ, "XDG_DATA_HOME": str(tmp_path)},
    )  # fmt: skip
    out, _ = await asyncio.wait_for(started.communicate(), 100)
    assert started.returncode == 0
    task = json.loads(out)
    assert task["status"] == "completed"
    assert task["result"]["results"]["agent"]["tool_result"]["matches"][0]["text"] == "needle"
    asked = [one["service"] for one in task["delegated_services"]]
    assert {"agent-execution", "tool-registry", "query-service", "conversation-service"} == set(asked)
