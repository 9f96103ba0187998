"""What becomes of tasks: retried, resumed, expired, repeated, routed; and whose they are."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from websockets.asyncio.client import connect

from docproc.apps.orchestrator.http import live
from docproc.engine.message import utc_now
from docproc.engine.store import events
from docproc.http.access.scopes import Scope
from docproc.orchestrator.service import BusinessError, Service, ServiceTask
from tests import tenancy
from tests.harness import Harness
from tests.orchestration import SILENCE_SECONDS, Orchestrator, heard, orchestrator, serving

BOTH = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+sql"])
ONE = pytest.mark.parametrize("combination", ["sqlite+sql"])
AGENT = {"domain": "agent", "action": "execute"}


@pytest.fixture(autouse=True)
def _no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the settings are read: only those services answer that a test starts."""
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SAMPLES", "none")


@pytest.fixture
async def running(engine: Harness) -> AsyncIterator[Orchestrator]:
    async with orchestrator(engine) as found:
        yield found


def agent(function: Any) -> Service:
    service = Service("agent-execution")
    service.on("agent.execute")(function)
    return service


@BOTH
async def test_task_that_comes_twice_is_done_once(running: Orchestrator) -> None:
    done: Counter[str] = Counter()

    async def work(task: ServiceTask) -> dict[str, Any]:
        done[str(task.envelope.task_id)] += 1
        return {}

    said: dict[str, Any] = {"type": AGENT, "payload": {"n": 1}, "metadata": {"deduplication_key": "k-1"}}
    async with serving(running, agent(work)):
        answers = await asyncio.gather(*(running.http.post("/api/v1/tasks", json=said) for _ in range(5)))
        assert {one.status_code for one in answers} == {202}
        (task_id,) = {one.json()["task_id"] for one in answers}
        assert sum(one.headers.get("Idempotent-Replay") == "true" for one in answers) == 4
        await running.ended(task_id)
    assert done == {task_id: 1}
    other = await running.http.post("/api/v1/tasks", json={**said, "payload": {"n": 2}})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "reused_key")


@BOTH
async def test_a_task_that_is_refused_takes_none_down_that_came_with_it(running: Orchestrator) -> None:
    """Tasks that come together share a transaction; here three of them have the same id."""
    same = str(uuid4())
    ids = [same, *(str(uuid4()) for _ in range(9)), same, *(str(uuid4()) for _ in range(9)), same]
    posts = (running.http.post("/api/v1/tasks", json={"type": AGENT, "task_id": one}) for one in ids)
    answers = await asyncio.gather(*posts)
    refused = [one for one in answers if one.status_code != 202]
    assert [one.status_code for one in refused] == [409, 409]
    assert {one.json()["task_id"] for one in answers if one.status_code == 202} == set(ids)
    for task_id in set(ids):
        assert (await running.task(task_id))["task_id"] == task_id


@ONE
async def test_task_that_nobody_takes_in_time_expires(running: Orchestrator) -> None:
    soon = (utc_now() + timedelta(seconds=0.5)).isoformat()
    accepted = await running.submit(type=AGENT, priority=0, expires_at=soon)
    task = await running.ended(accepted["task_id"])
    assert task["status"] == "failed" and task["error"]["code"] == "expired"
    letters = await running.harness.query("SELECT reason FROM dead_letters")
    assert "expired" in letters[0].reason
    late = await running.http.post(
        "/api/v1/tasks", json={"type": AGENT, "expires_at": (utc_now() - timedelta(seconds=1)).isoformat()}
    )
    assert (late.status_code, late.json()["error"]["code"]) == (422, "VAL_EXPIRES")


@BOTH
async def test_failed_task_is_resumed_from_its_last_checkpoint(running: Orchestrator) -> None:
    done: list[str] = []
    is_broken = True

    async def work(task: ServiceTask) -> dict[str, Any]:
        name = task.payload["name"]
        if name == "second" and is_broken:
            raise BusinessError("not yet")
        done.append(name)
        return {"was": name, "before": sorted(task.inputs)}

    steps = [
        {"name": "first", "type": AGENT, "payload": {"name": "first"}},
        {"name": "second", "type": AGENT, "payload": {"name": "second"}, "after": ["first"]},
        {"name": "third", "type": AGENT, "payload": {"name": "third"}, "after": ["second"]},
    ]
    async with serving(running, agent(work)):
        accepted = await running.submit(plan={"steps": steps})
        task = await running.ended(accepted["task_id"])
        assert task["status"] == "failed" and done == ["first"]
        is_broken = False
        answer = await running.http.post(f"/api/v1/tasks/{accepted['task_id']}/resume")
        assert answer.status_code == 200, answer.text
        task = await running.ended(accepted["task_id"])
    assert task["status"] == "completed" and task["error"] is None
    assert done == ["first", "second", "third"]
    assert task["result"]["results"]["third"] == {"was": "third", "before": ["second"]}
    assert (await running.http.post(f"/api/v1/tasks/{accepted['task_id']}/resume")).status_code == 409


ROUTES = {
    "agent.execute": ("agent:execution", 3),
    "workflow.start": ("workflow:engine", 4),
    "tool.execute": ("tools:registry", 3),
    "tool.query": ("query:service", 5),
    "conversation.update": ("conversation:service", 6),
    "system.health": ("system:ops", 1),
}


@ONE
async def test_types_lead_to_their_queues_with_their_priorities(running: Orchestrator) -> None:
    async def is_sent(task_id: str) -> bool:
        return bool((await running.task(task_id))["steps"])

    for name, (queue, priority) in ROUTES.items():
        domain, _, action = name.partition(".")
        accepted = await running.submit(type={"domain": domain, "action": action})
        await running.harness.until(lambda: is_sent(accepted["task_id"]), name)  # noqa: B023 # awaited here
        (step,) = (await running.task(accepted["task_id"]))["steps"]
        envelope = (await running.harness.query("SELECT envelope FROM orchestrator_calls"))[-1].envelope
        assert (step["queue"], json.loads(envelope)["priority"]) == (queue, priority)
    # One way: nobody waits for an answer, and the task is done when it is sent.
    for service, queue in (
        ("database-service", "database:service"),
        ("analytics-service", "analytics:service"),
    ):
        accepted = await running.submit(
            type={"domain": "system", "action": "notify"}, target_service=service, payload={"x": 1}
        )
        task = await running.ended(accepted["task_id"])
        assert task["status"] == "completed" and task["steps"][0]["queue"] == queue
    services = {one["name"]: one for one in (await running.http.get("/api/v1/services")).json()["services"]}
    assert services["agent-execution"]["integrations"] == ["queue", "websocket"]
    assert services["workflow-engine"]["integrations"] == ["queue", "rest"]
    assert services["tool-registry"]["integrations"] == ["queue", "rest"]
    assert services["query-service"]["integrations"] == ["queue", "websocket"]
    assert not services["database-service"]["answers"] and services["agent-execution"]["open_calls"] == 1


@BOTH
async def test_client_that_comes_back_gets_what_it_missed_in_order_and_once(running: Orchestrator) -> None:
    async def work(task: ServiceTask) -> dict[str, Any]:
        for percent in (25, 50, 75):
            await task.progress(percent)
        return {}

    count = 8
    told: list[dict[str, Any]] = []
    async with serving(running, agent(work)):
        async with running.following("s") as (first, _):
            accepted = [await running.submit(type=AGENT, session_id="s") for _ in range(count)]
            told += [one for one in await heard(first, lambda one: one.get("percent") == 50) if "id" in one]
        # Gone; everything goes on meanwhile.
        for one in accepted[: count // 2]:
            await running.ended(one["task_id"])
        async with running.following("s", after=told[-1]["id"]) as (second, missed):
            told += missed
            while sum(one["type"] == "task.completed" for one in told) < count:
                told += [json.loads(await asyncio.wait_for(second.recv(), SILENCE_SECONDS))]
    async with running.following("s", after="0.0") as (_, everything):
        pass
    told = [one for one in told if "id" in one]
    # The last task's end is followed by notes of it that nobody waited for.
    assert [one["id"] for one in told] == [one["id"] for one in everything][: len(told)]
    assert len({one["id"] for one in told}) == len(told)
    for one in accepted:
        own = [event for event in told if event["task_id"] == one["task_id"]]
        assert [event["percent"] for event in own if "percent" in event] == [25, 50, 75, 100]
        assert {event["correlation_id"] for event in own} == {one["correlation_id"]}


@ONE
async def test_trace_rebuilds_the_whole_timeline(running: Orchestrator) -> None:
    async def work(task: ServiceTask) -> dict[str, Any]:
        await task.progress(50)
        return {}

    correlation_id = str(uuid4())
    async with serving(running, agent(work)):
        accepted = await running.submit(type=AGENT, correlation_id=correlation_id)
        await running.ended(accepted["task_id"])
    found = (await running.http.get(f"/api/v1/traces/{correlation_id}")).json()
    kinds = [(entry["kind"], entry["outcome"]) for entry in found["timeline"]]
    assert kinds[0] == ("status", "received") and ("status", "completed") in kinds
    for one in (("step", "started"), ("progress", "50"), ("step", "completed")):
        assert one in kinds
    said = [entry["data"] for entry in found["timeline"] if entry["kind"] in ("step", "progress")]
    assert {data["correlation_id"] for data in said} == {correlation_id}
    picture = await running.http.get(f"/api/v1/traces/{correlation_id}/picture")
    assert picture.headers["content-type"] == "image/svg+xml" and "agent-execution" in picture.text
    assert (await running.http.get(f"/api/v1/traces/{uuid4()}")).status_code == 404


@BOTH
async def test_call_is_tried_again_and_answers_to_older_envelopes_are_dropped(running: Orchestrator) -> None:
    taken = {"service": "agent-execution", "consumer": "by hand", "wait_seconds": 10}
    accepted = await running.submit(type=AGENT, priority=0)

    async def take() -> dict[str, Any]:
        answer = await running.http.post("/api/v1/services/take", json=taken)
        (envelope,) = answer.json()["envelopes"]
        return dict(envelope)

    def reply(envelope: dict[str, Any], **changes: Any) -> Any:
        said = {**envelope, "message_id": str(uuid4()), "created_at": utc_now().isoformat(), **changes}
        said.pop("expires_at")
        return running.http.post("/api/v1/services/replies", json=said)

    first = await take()
    error = {"code": "AWAY", "message": "later", "status": 503}
    assert (await reply(first, status="failed", error=error)).status_code == 204
    second = await take()
    assert (first["metadata"]["fencing"], second["metadata"]["fencing"]) == (1, 2)
    assert second["metadata"]["call_id"] == first["metadata"]["call_id"]
    assert second["metadata"]["retry_count"] == 1
    # Late, and too late.
    assert (await reply(first, status="completed", payload={"from": "first"})).status_code == 204
    forged = await reply(second, status="completed", tenant_id="other")
    assert (forged.status_code, forged.json()["error"]["code"]) == (422, "VAL_IMMUTABLE")
    for _ in range(2):  # an answer that comes twice counts once
        assert (await reply(second, status="completed", payload={"from": "second"})).status_code == 204
    task = await running.ended(accepted["task_id"])
    assert task["result"]["results"]["execute"] == {"from": "second"}
    assert task["steps"][0]["attempt"] == 2


@ONE
async def test_tenants_see_nothing_of_each_other(engine: Harness) -> None:
    for tenant in ("acme", "beta"):
        await tenancy.add_tenant(engine, tenant)
    scopes = (Scope.SUBMIT, Scope.READ, Scope.ADMIN)
    keys = {
        tenant: {"Authorization": f"Bearer {(await tenancy.make_key(engine, tenant, *scopes)).secret}"}
        for tenant in ("acme", "beta")
    }
    settings = engine.settings.model_copy(update={"auth": "on"})
    async with orchestrator(engine, settings) as running:
        of = {
            tenant: httpx.AsyncClient(base_url=running.url, headers=headers, trust_env=False)
            for tenant, headers in keys.items()
        }
        forged = await of["beta"].post("/api/v1/tasks", json={"type": AGENT, "tenant_id": "acme"})
        assert (forged.status_code, forged.json()["error"]["code"]) == (403, "wrong_tenant")
        said = {"type": AGENT, "session_id": "shared", "payload": {"secret": "ZX"}}
        task = (await of["acme"].post("/api/v1/tasks", json=said)).json()
        own = f"/api/v1/tasks/{task['task_id']}"
        assert (await of["acme"].get(own)).status_code == 200
        for path in (own, "/api/v1/sessions/shared", f"/api/v1/traces/{task['correlation_id']}"):
            assert (await of["beta"].get(path)).status_code == 404, path
        assert (await of["beta"].post(f"{own}/cancel")).status_code == 404
        assert (await of["beta"].get("/api/v1/tasks")).json()["tasks"] == []
        wanted = {"service": "agent-execution", "consumer": "x", "limit": 10, "wait_seconds": 0.3}
        taken = await of["beta"].post("/api/v1/services/take", json=wanted)
        assert taken.json()["envelopes"] == []
        url = f"ws://127.0.0.1:{running.port}/ws"
        async with connect(url, proxy=None, additional_headers=keys["beta"]) as beta:
            # A session of the same name is another one.
            sync = {"type": "session.sync", "session_id": "shared", "after": "0.0"}
            await beta.send(json.dumps(sync))
            told = await heard(beta, lambda one: one["type"] == "session.synced")
            assert [one["type"] for one in told] == ["connected", "session.synced"]
            await beta.send(json.dumps({"type": "ping"}))
            mine = (await of["beta"].post("/api/v1/tasks", json=said)).json()
            told = await heard(beta, lambda one: one["type"] == "task.processing")
            assert {one["task_id"] for one in told if "task_id" in one} == {mine["task_id"]}
        async with connect(url, proxy=None) as nobody:
            with pytest.raises(Exception, match="4401"):
                await nobody.recv()
        for client in of.values():
            await client.aclose()


@ONE
async def test_violations_are_told_with_code_place_and_remedy_and_nothing_is_accepted(
    running: Orchestrator,
) -> None:
    later = (utc_now() + timedelta(hours=1)).isoformat()
    refused = [
        ({"type": AGENT, "priority": 10}, "VAL_PRIORITY", "priority"),
        ({"type": AGENT, "task_id": "nope"}, "VAL_UUID", "task_id"),
        ({"type": {"domain": "agent", "action": "sing"}}, "VAL_TYPE", "type.action"),
        ({"type": AGENT, "created_at": later, "expires_at": later}, "VAL_EXPIRES", "expires_at"),
        ({"type": AGENT, "payload": {"text": "x" * 2**20}}, "VAL_TOO_LARGE", "(whole message)"),
        ({"type": AGENT, "schema_version": "3"}, "VAL_SCHEMA_VERSION", "schema_version"),
        ({"type": AGENT, "target_service": "nobody"}, "VAL_SERVICE", "target_service"),
        ({"flow": "nowhere"}, "VAL_PLAN", "flow"),
        ({}, "VAL_REQUIRED", "type"),
    ]
    for said, code, where in refused:
        answer = await running.http.post("/api/v1/tasks", json=said)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["details"][0]["where"]) == (422, code, where)
        assert error["remedy"]
    assert (await running.http.post("/api/v1/tasks", content=b"{")).json()["error"]["code"] == "VAL_JSON"
    assert (await running.http.get("/api/v1/tasks")).json()["tasks"] == []
    old = await running.submit(schema_version="1.0", type="agent.execute", timestamp=utc_now().isoformat())
    assert (await running.task(old["task_id"]))["type"] == "agent.execute"
    schema = (await running.http.get("/api/v1/schemas/envelope")).json()
    assert {"message_id", "tenant_id", "priority", "payload"} <= set(schema["required"])
    versions = (await running.http.get("/api/v1/schemas/envelope/versions")).json()
    assert versions == {"current": "1.1", "accepted": ["1.0", "1.1"]}


@ONE
async def test_named_flow_runs_its_branches_and_cancelled_task_has_no_effect(running: Orchestrator) -> None:
    options = "options: {type: {domain: agent, action: execute}, payload: {says: %s}}"
    running.harness.workflow(
        "fork",
        f"""
        sla: {{deadline_seconds: 300}}
        stages:
          - {{name: left, component: service_call, after: [], {options % "left"}}}
          - {{name: right, component: service_call, after: [], {options % "right"}}}
          - {{name: both, component: service_call, after: [left, right], {options % "both"}}}
          - {{name: result, component: task_result}}
        """,
    )

    async def work(task: ServiceTask) -> dict[str, Any]:
        return {"said": task.payload["says"], "before": sorted(task.inputs), "of": task.payload.get("who")}

    async with serving(running, agent(work)):
        accepted = await running.submit(flow="fork", payload={"who": "me"})
        task = await running.ended(accepted["task_id"])
    results = task["result"]["results"]
    assert results["both"] == {"said": "both", "before": ["left", "right"], "of": "me"}
    # Nobody serves now: this one waits, and is called off.
    waiting = await running.submit(type=AGENT)

    async def is_sent() -> bool:
        return bool((await running.task(waiting["task_id"]))["steps"])

    await running.harness.until(is_sent, "the call is open")
    cancelled = await running.http.post(f"/api/v1/tasks/{waiting['task_id']}/cancel")
    assert cancelled.json()["error"]["code"] == "cancelled"
    assert [step["status"] for step in cancelled.json()["steps"]] == ["cancelled"]
    wanted = {"service": "agent-execution", "consumer": "x", "wait_seconds": 0.2}
    taken = await running.http.post("/api/v1/services/take", json=wanted)
    assert taken.json()["envelopes"] == []


@ONE
async def test_compensations_go_on_where_they_were_after_a_crash(engine: Harness) -> None:
    undo = {"domain": "agent", "action": "notify"}
    steps = [
        {"name": "one", "type": AGENT, "compensate": {"type": undo, "payload": {"undoes": "one"}}},
        {
            "name": "two",
            "type": AGENT,
            "after": ["one"],
            "compensate": {"type": undo, "payload": {"undoes": "two"}},
        },
    ]
    async with orchestrator(engine) as running:
        accepted = await running.submit(plan={"steps": steps})

        async def next_envelope() -> dict[str, Any]:
            wanted = {"service": "agent-execution", "consumer": "by hand", "wait_seconds": 15}
            (envelope,) = (await running.http.post("/api/v1/services/take", json=wanted)).json()["envelopes"]
            return dict(envelope)

        async def say(envelope: dict[str, Any], **changes: Any) -> None:
            said = {**envelope, "message_id": str(uuid4()), "created_at": utc_now().isoformat(), **changes}
            said.pop("expires_at")
            assert (await running.http.post("/api/v1/services/replies", json=said)).status_code == 204

        await say(await next_envelope(), status="completed")
        error = {"code": "NO", "message": "no"}
        await say(await next_envelope(), status="failed", error=error)
        second = await next_envelope()
        assert second["payload"]["undoes"] == "two"
        # The only worker goes in the middle of undoing, and answers come while nobody is there.
        for one in list(engine._running):
            await engine.stop(one)
        await say(second, status="completed")
        await engine.start("service_call", "task_result")
        first = await next_envelope()
        assert first["payload"]["undoes"] == "one"
        await say(first, status="completed")
        task = await running.ended(accepted["task_id"])
    assert task["error"]["code"] == "NO" and task["error"]["undone"] == ["two", "one"]
    undone = [step for step in task["steps"] if step["step"].startswith("undo-")]
    assert [(step["step"], step["fencing"]) for step in undone] == [("undo-two", 1), ("undo-one", 1)]


@ONE
async def test_client_that_missed_much_gets_all_of_it_and_a_stopping_server_lets_it_go(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MOST_WAITING", 20)
    async with orchestrator(engine) as running:
        accepted = await running.submit(type=AGENT, session_id="much")
        task_id = UUID(accepted["task_id"])
        many = [events.Event(task_id, "progress", outcome="1", data={"percent": n}) for n in range(500)]
        async with engine.app.store.writing() as session:
            await events.record(session, many)
        async with running.following("much", after="0.0") as (client, told):
            assert [one["percent"] for one in told if one["type"] == "task.progress"] == list(range(500))
            began = time.monotonic()
            running.stop()
            await asyncio.wait_for(client.wait_closed(), SILENCE_SECONDS)
            assert client.close_code == 1012
            assert time.monotonic() - began < 3


@ONE
async def test_one_way_message_is_sent_again_without_going_on_twice(running: Orchestrator) -> None:
    """Nobody gives the receipt in time; the step after it is done once all the same."""
    done: Counter[str] = Counter()

    async def work(task: ServiceTask) -> dict[str, Any]:
        done[str(task.envelope.task_id)] += 1
        return {}

    note = {"domain": "system", "action": "notify"}
    steps = [
        {"name": "note", "type": note, "service": "database-service", "timeout_ms": 200, "priority": 0},
        {"name": "work", "type": AGENT, "after": ["note"]},
    ]
    async with serving(running, agent(work)):
        accepted = await running.submit(plan={"steps": steps})
        await running.ended(accepted["task_id"])

        async def was_sent_again() -> bool:
            steps = (await running.task(accepted["task_id"]))["steps"]
            return bool(next(one["fencing"] for one in steps if one["step"] == "note") >= 3)

        await running.harness.until(was_sent_again, "it is sent again")
    assert done == {accepted["task_id"]: 1}
    assert (await running.task(accepted["task_id"]))["status"] == "completed"


@ONE
async def test_compensation_that_fails_holds_no_other_up_and_is_named(running: Orchestrator) -> None:
    undone: list[str] = []

    async def work(task: ServiceTask) -> dict[str, Any]:
        if task.payload.get("fails"):
            raise BusinessError("no", code="NO")
        if (name := task.payload.get("undoes")) is not None:
            if name == "two":
                raise BusinessError("cannot be undone")
            undone.append(name)
        return {}

    def step(name: str, after: list[str], **payload: Any) -> dict[str, Any]:
        undo = {"type": AGENT, "payload": {"undoes": name}}
        return {"name": name, "type": AGENT, "after": after, "payload": payload, "compensate": undo}

    steps = [step("one", []), step("two", ["one"]), step("three", ["two"], fails=True)]
    async with serving(running, agent(work)):
        accepted = await running.submit(plan={"steps": steps})
        task = await running.ended(accepted["task_id"])
    assert undone == ["three", "one"]
    assert (task["error"]["code"], task["error"]["undone"]) == ("NO", ["three", "one"])
    assert task["error"]["not_undone"] == ["two"]
