"""`POST /requests`: requests that are data, for applications without files."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from docproc.http.submitting import BODY_BYTES
from tests.components import PATHS
from tests.harness import Harness

FLOW = """
    stages:
      - {name: cut, component: split}
      - {name: all, component: gather}
"""


async def test_request_without_files_runs_and_is_answered(engine: Harness, client: httpx.AsyncClient) -> None:
    engine.workflow("count", FLOW)
    await engine.start("workflow_router", *PATHS)
    wanted = {"workflow": "count", "payload": {"n": 3}, "external_id": "A1", "metadata": {"who": "ana"}}
    first = await client.post("/requests", json=wanted)
    assert first.status_code == 200 and first.json()["status"] == "received"
    request_id = first.json()["request_id"]
    told = (await client.get(f"/status/{request_id}", params={"wait": 20})).json()
    assert told["status"] == "completed" and len(told["result"]["units"]) == 3
    again = await client.post("/requests", json=wanted)
    assert again.json()["request_id"] == request_id and again.headers["Idempotent-Replay"] == "true"
    other = await client.post("/requests", json={**wanted, "payload": {"n": 2}})
    assert other.json()["request_id"] != request_id


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"[", 400, "invalid_body"),
        (b"[1]", 400, "invalid_body"),
        (b"{}", 422, "invalid_field"),
        (b'{"workflow": "count", "paylaod": {}}', 422, "invalid_field"),
        (b'{"workflow": "count", "priority": 10}', 422, "invalid_field"),
        (b'{"workflow": "count", "payload": ' + b'{"a": ' * 60 + b"1" + b"}" * 61, 422, "invalid_body"),
        (b'{"workflow": "count", "payload": {"a": "' + b"x" * BODY_BYTES + b'"}}', 413, "too_large"),
        (b'{"workflow": "no-such"}', 404, "unknown_workflow"),
        (b'{"workflow": "../../x"}', 404, "unknown_workflow"),
    ],
)
async def test_what_cannot_be_a_request_is_refused(
    sqlite_client: httpx.AsyncClient, sqlite_engine: Harness, body: bytes, status: int, code: str
) -> None:
    sqlite_engine.workflow("count", FLOW)
    refused = await sqlite_client.post("/requests", content=body)
    problem: dict[str, Any] = refused.json()["error"]
    assert (refused.status_code, problem["code"]) == (status, code), problem
    assert (await sqlite_client.get("/requests")).json()["requests"] == []
