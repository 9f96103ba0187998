"""The orchestrator seen from outside: tasks over HTTP, events over WebSocket, services on their queues."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from docproc.orchestrator.service import BusinessError, Service, ServiceTask
from tests.harness import Harness
from tests.orchestration import Orchestrator, heard, orchestrator, serving

BOTH = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+sql"])
SAMPLES = "agent-execution,tool-registry,query-service,conversation-service,system-operations"


@pytest.fixture(autouse=True)
def _samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the settings are read: what is not embedded has no stand-ins unless it says so."""
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SAMPLES", SAMPLES)


@pytest.fixture
async def running(engine: Harness) -> AsyncIterator[Orchestrator]:
    async with orchestrator(engine) as found:
        yield found


@BOTH
async def test_task_is_accepted_then_its_progress_is_told_in_order(running: Orchestrator) -> None:
    async with running.following("my-session") as (client, _):
        accepted = await running.submit(
            type={"domain": "agent", "action": "execute"},
            session_id="my-session",
            payload={"prompt": "hello"},
        )
        told = await heard(client, lambda one: one["type"] == "task.completed")
    assert {one["task_id"] for one in told} == {accepted["task_id"]}
    assert {one["correlation_id"] for one in told} == {accepted["correlation_id"]}
    assert [one["percent"] for one in told if "percent" in one] == [25, 50, 75, 100]
    assert told[0]["type"] == "task.accepted"
    task = await running.task(accepted["task_id"])
    assert task["status"] == "completed" and task["progress"] == 100
    assert task["result"]["results"]["execute"]["answer"] == "You said: hello"
    assert task["delegated_services"] == [
        {"service": "agent-execution", "task_id": task["steps"][0]["call_id"], "status": "completed"}
    ]


@BOTH
async def test_several_services_work_on_one_task(running: Orchestrator) -> None:
    """§4.2: agent and tools side by side, the agent asks for a tool and goes on with its answer."""
    plan = {
        "steps": [
            {
                "name": "agent",
                "type": {"domain": "agent", "action": "execute"},
                "payload": {
                    "prompt": "find it",
                    "use_tool": {
                        "tool": "search",
                        "service": "query-service",
                        "arguments": {"query": "needle"},
                    },
                },
            },
            {"name": "tools", "type": {"domain": "tool", "action": "query"}, "service": "tool-registry"},
            {
                "name": "close",
                "type": {"domain": "conversation", "action": "update"},
                "after": ["agent", "tools"],
            },
        ]
    }
    accepted = await running.submit(plan=plan, session_id="s")
    task = await running.ended(accepted["task_id"])
    assert task["status"] == "completed", task
    results = task["result"]["results"]
    assert results["agent"]["tool_result"] == {"matches": [{"text": "needle", "score": 1.0}]}
    assert results["tools"] == {"tools": ["search", "calculate"]}
    # The last step was sent what those before it found.
    assert results["close"]["received"]["inputs"].keys() == {"agent", "tools"}
    by_service = {one["service"]: one["status"] for one in task["delegated_services"]}
    assert by_service == dict.fromkeys(
        ("agent-execution", "tool-registry", "query-service", "conversation-service"), "completed"
    )
    asked = next(step for step in task["steps"] if step["tool"])
    agent = next(step for step in task["steps"] if step["step"] == "agent" and not step["tool"])
    assert asked["parent"] == agent["call_id"] and agent["fencing"] == 2


REFUSED = [
    ({"steps": [{"name": "a", "type": "agent", "after": ["b"]}]}, "VAL_TYPE", "plan.steps.0.type"),
    (
        {
            "steps": [
                {"name": "a", "type": {"domain": "agent", "action": "execute"}, "after": ["b"]},
                {"name": "b", "type": {"domain": "agent", "action": "execute"}, "after": ["a"]},
            ]
        },
        "VAL_PLAN",
        "plan.steps.0.after",
    ),
    (
        {"steps": [{"name": "a", "type": {"domain": "agent", "action": "execute"}, "after": ["x"]}]},
        "VAL_PLAN",
        "plan.steps.0.after",
    ),
    (
        {"steps": [{"name": "a", "type": {"domain": "agent", "action": "execute"}, "service": "nobody"}]},
        "VAL_SERVICE",
        "plan.steps.0.service",
    ),
    ({"steps": []}, "VAL_FORMAT", "plan.steps"),
]


@pytest.mark.parametrize("combination", ["sqlite+sql"])
async def test_plans_that_cannot_work_are_refused(running: Orchestrator) -> None:
    for plan, code, path in REFUSED:
        answer = await running.http.post("/api/v1/tasks", json={"plan": plan})
        assert answer.status_code == 422, answer.text
        error = answer.json()["error"]
        assert (error["code"], error["details"][0]["where"]) == (code, path), error
        assert error["remedy"]
    assert (await running.http.get("/api/v1/tasks")).json()["tasks"] == []


SAGA_PLAN = {
    "steps": [
        {
            "name": name,
            "type": {"domain": "conversation", "action": "update"},
            "payload": {"does": name},
            "after": after,
            "compensate": {
                "type": {"domain": "conversation", "action": "notify"},
                "payload": {"undoes": name},
            },
        }
        for name, after in (("one", []), ("two", ["one"]))
    ]
    + [
        {
            "name": "three",
            "type": {"domain": "workflow", "action": "execute"},
            "after": ["two"],
            "compensate": {
                "type": {"domain": "conversation", "action": "notify"},
                "payload": {"undoes": "three"},
            },
        }
    ]
}


@BOTH
async def test_steps_before_the_one_that_fails_are_undone_backwards(running: Orchestrator) -> None:
    refusing = Service("workflow-engine")

    @refusing.on("workflow.execute")
    async def refuse(task: ServiceTask) -> None:
        raise BusinessError("not today", code="NO")

    async with serving(running, refusing):
        accepted = await running.submit(plan=SAGA_PLAN, session_id="saga")
        task = await running.ended(accepted["task_id"])
    assert task["status"] == "failed"
    assert task["error"]["code"] == "NO"
    assert task["error"]["undone"] == ["three", "two", "one"] and task["error"]["not_undone"] == []
    undone = [step for step in task["steps"] if step["step"].startswith("undo-")]
    assert [step["step"] for step in undone] == ["undo-three", "undo-two", "undo-one"]
    assert [step["result"]["received"]["undoes"] for step in undone] == ["three", "two", "one"]
    assert all(step["status"] == "completed" and step["fencing"] == 1 for step in undone)
    trace = (await running.http.get(f"/api/v1/traces/{accepted['correlation_id']}")).json()
    saga = [
        (entry["outcome"], entry["data"].get("stage"))
        for entry in trace["timeline"]
        if entry["kind"] == "saga"
    ]
    assert saga == [("begun", None), ("undone", "three"), ("undone", "two"), ("undone", "one")]
    # What was undone is not resumed.
    again = await running.http.post(f"/api/v1/tasks/{accepted['task_id']}/resume")
    assert again.status_code == 409
