"""The orchestrator while services fail, seen from outside (B10–B13, B16, B18, B19).

The delays of the specification are real; breakers are those of the specification with shorter times.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from docproc.apps.orchestrator.resilience.breakers import LOOK_SECONDS
from docproc.engine.store.columns import as_moment
from tests.harness import Harness
from tests.orchestration import Orchestrator, heard, orchestrator
from tests.receiver import Receiver, receiving
from tests.scripted_services import Scripted, serving

BOTH = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+redis"])
ONE = pytest.mark.parametrize("combination", ["sqlite+sql"])

QUICK = {"reset_seconds": 1.0, "probe_seconds": 0.5}
SERVICES = [
    {"name": "agent-execution", "breaker": QUICK},
    {
        "name": "tool-registry",
        # Long enough that no probe falls into what is looked at before, however slow the machine is.
        "breaker": {"window": 10, "reset_seconds": 8.0, "probe_seconds": 0.5},
        "standard_answer": {"tools": []},
    },
    {"name": "query-service", "standby_queue": "query:standby", "breaker": {"window": 200}},
    {"name": "analytics-service", "takes": ["system.metric"], "answers": True, "breaker": QUICK},
]
# As the specification has them, but for how many calls a share must be of.
RULES = {
    "service_down": {"least_count": 3, "resolve_seconds": 0},
    "breaker_open": {"enabled": False},  # the other way to a failover is what is looked at
    "errors_many": {"least_count": 3, "resolve_seconds": 0},
    "service_slow": {"threshold": 0.0001, "resolve_seconds": 0},
    "service_less_quick": {"threshold": 0.00001},
}


@pytest.fixture(autouse=True)
def _configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the settings are read."""
    services, rules = tmp_path / "services.yaml", tmp_path / "rules.yaml"
    services.write_text(yaml.safe_dump({"services": SERVICES}))
    rules.write_text(yaml.safe_dump({"rules": RULES}))
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SAMPLES", "none")
    monkeypatch.setenv("DOCPROC_ORCHESTRATOR_SERVICES", str(services))
    monkeypatch.setenv("DOCPROC_ALERTS", "off")  # else what one test makes fail is throttled
    monkeypatch.setenv("DOCPROC_ALERT_RULES", str(rules))
    monkeypatch.setenv("DOCPROC_ALERT_INTERVAL_SECONDS", "0.5")


QUEUES = ("agent:execution", "tools:registry", "query:service", "query:standby", "analytics:service")


@asynccontextmanager
async def running(engine: Harness, workers: int = 1) -> AsyncIterator[tuple[Orchestrator, Scripted]]:
    async with serving(engine.settings, *QUEUES) as services, orchestrator(engine, workers=workers) as found:
        yield found, services


def task(kind: str, **said: Any) -> dict[str, Any]:
    domain, _, action = kind.partition(".")
    return {"type": {"domain": domain, "action": action}, **said}


@BOTH
async def test_failures_are_tried_again_as_the_tables_say(engine: Harness) -> None:
    """B11, B12: so many tries by priority, put off inside the jitter bands; refusals are never repeated."""
    async with running(engine) as (found, services):
        services.say = lambda envelope: envelope.payload["status"]
        wanted = {
            **{
                (priority, 503): tries for priority, tries in ((0, 5), (1, 5), (2, 3), (3, 3), (4, 2), (9, 2))
            },
            **{(2, status): 3 for status in (409, 502, 504)},
            **{(2, status): 1 for status in (400, 401, 403, 404, 422)},
            (0, 500): 2,
        }
        ids = {}
        for priority, status in wanted:
            said = task("tool.query", priority=priority, payload={"status": status})
            ids[(await found.submit(**said))["task_id"]] = (priority, status)
        waits = await _available_at(engine, found, set(ids))
        tries = services.tries()
        assert {ids[task_id]: number for task_id, number in tries.items()} == wanted
        for task_id in ids:
            assert (await found.task(task_id))["status"] == "failed"
    bands = {0: (0.18, 0.495), 1: (0.18, 0.495), 2: (0.85, 2.3), 3: (0.85, 2.3), 4: (1.9, 2.1), 9: (1.9, 2.1)}
    assert waits
    for task_id, delay in waits:
        least, most = bands[ids[task_id][0]]
        assert delay <= 0.05 or least - 0.05 <= delay <= most + 0.05, (ids[task_id], delay)


async def _available_at(engine: Harness, found: Orchestrator, task_ids: set[str]) -> set[tuple[str, float]]:
    """How long rows were put off, as the database keeps it, until all tasks are over."""
    seen: dict[str, tuple[str, float]] = {}
    query = (
        "SELECT m.id, m.request_id, m.available_at, e.finished_at FROM messages m JOIN events e "
        "ON e.request_id = m.request_id AND e.kind = 'step' AND e.outcome = 'retrying' "
        "WHERE m.state = 'delayed' ORDER BY e.id"
    )

    async def over() -> bool:
        for row in await engine.query(query):
            wait = (as_moment(row.available_at) - as_moment(row.finished_at)).total_seconds()
            seen[str(row.id)] = (str(row.request_id), wait)  # the latest event is that of this row
        left = await engine.query(
            "SELECT count(*) AS number FROM requests WHERE status NOT IN ('completed', 'failed')"
        )
        return bool(left[0].number == 0)

    await engine.until(over, "all tasks end", 30)
    return set(seen.values())


@ONE
async def test_time_limits_are_kept_and_asked_for(engine: Harness) -> None:
    """B10: a silent service is given up on; what a message asks for counts, within the maximum."""
    async with running(engine) as (found, services):
        services.say = lambda _envelope: None
        quick = await found.submit(**task("tool.query", priority=5, metadata={"timeout_ms": 200}))
        asked = [
            await found.submit(**task("tool.query")),
            await found.submit(**task("agent.execute")),
            await found.submit(**task("agent.execute", metadata={"timeout_ms": 900_000})),
        ]
        ended = await found.ended(quick["task_id"])
        assert ended["status"] == "failed"
        assert "no answer in time" in str(ended["error"])
        assert services.tries()[quick["task_id"]] == 2
        for accepted in asked:
            await found.http.post(f"/api/v1/tasks/{accepted['task_id']}/cancel")
        told = await engine.query(
            "SELECT request_id, data FROM events WHERE kind = 'step' AND outcome = 'started'"
        )
        limits = {str(row.request_id): _data(row.data)["timeout_seconds"] for row in told}
        assert [limits[one["task_id"]] for one in asked] == [10, 30, 120]


def _data(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(value) if isinstance(value, str) else value
    return found


@BOTH
async def test_a_breaker_answers_for_a_service_until_its_probe_passes(engine: Harness) -> None:
    """B13: opened by what any replica saw; the client is told; one probe; closed again."""
    async with running(engine, workers=2) as (found, services):
        services.say = lambda _envelope: 503
        said = task("tool.execute", priority=9, session_id="s")
        first = [await found.submit(**said) for _ in range(6)]
        for accepted in first:
            await found.ended(accepted["task_id"])
        assert await _breaker(found, "tool-registry") == "open"
        opened = time.monotonic()

        async def is_spared() -> bool:
            """One task tells of one replica; that the other knows, too, follows from how often it looks."""
            before = services.count()
            await found.ended((await found.submit(**said))["task_id"])
            return services.count() == before and time.monotonic() - opened > LOOK_SECONDS

        await engine.until(is_spared, "both replicas know: they look once a second")
        before = services.count()
        async with found.following("s") as (client, _):
            accepted = await found.submit(**said)
            told = await heard(client, lambda one: one["type"] in ("task.completed", "task.failed"))
        [degraded] = [one for one in told if one["type"] == "step.degraded"]
        assert degraded["data"]["degradation"]["fallback"] == "standard"
        ended = await found.task(accepted["task_id"])
        assert ended["result"]["results"]["execute"] == {"tools": []}
        assert ended["result"]["degraded"][0]["level"] == "reduced"
        assert services.count() == before  # nobody was asked
        services.say = lambda _envelope: 200

        async def answers() -> bool:
            ended = await found.ended((await found.submit(**said))["task_id"])
            from_service = ended["result"]["results"]["execute"] == {"from": "tools:registry"}
            return from_service and await _breaker(found, "tool-registry") == "closed"

        await engine.until(answers, "a probe passes")


@ONE
async def test_a_critical_service_is_answered_for_by_its_last_good_answer(engine: Harness) -> None:
    """B13, B16: the cache of a critical service, and one degradation level for everybody."""
    async with running(engine) as (found, services):
        said = task("agent.execute", priority=9, payload={"prompt": "hello"})
        good = await found.ended((await found.submit(**said))["task_id"])
        services.say = lambda _envelope: 503
        for accepted in [await found.submit(**said) for _ in range(5)]:
            await found.ended(accepted["task_id"])
        cached = await found.ended((await found.submit(**said))["task_id"])
        assert cached["result"]["results"]["execute"] == good["result"]["results"]["execute"]
        state = (await found.http.get("/api/v1/degradation")).json()
        assert (state["level"], state["away"]) == ("reduced", ["agent-execution"])


@ONE
async def test_degradation_keeps_what_is_critical(engine: Harness) -> None:
    """B16: set by hand; critical services are called, standard ones answered for, others cancelled."""
    async with running(engine) as (found, services):
        answer = await found.http.put("/api/v1/degradation", json={"level": "minimal", "reason": "drill"})
        assert answer.json()["dropped"] == ["non_critical", "standard"]
        await asyncio.sleep(1.1)  # replicas look once a second
        kinds = ("agent.execute", "tool.execute", "system.metric")
        ended = {}
        for kind in kinds:
            ended[kind] = await found.ended((await found.submit(**task(kind)))["task_id"])
        assert ended["agent.execute"]["result"]["results"]["execute"] == {"from": "agent:execution"}
        assert ended["tool.execute"]["result"]["results"]["execute"] == {"tools": []}
        assert ended["system.metric"]["status"] == "failed"
        assert services.count() == 1
        answer = await found.http.put("/api/v1/degradation", json={"level": "full"})
        assert answer.json()["level"] == "full"


@BOTH
async def test_alerts_act_and_tell(engine: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """B18, B19: the eight metrics; failover, throttling, closer monitoring and summary are seen to happen."""
    async with receiving() as receiver:
        monkeypatch.setenv("DOCPROC_ALERTS", "on")
        monkeypatch.setenv("DOCPROC_ALERT_WEBHOOK_URL", f"http://127.0.0.1:{receiver.port}/alerts")
        async with running(engine) as (found, services):
            services.say = lambda envelope: 503 if services.received[-1][0] == "query:service" else 200
            said = task("tool.query", priority=9)
            for accepted in [await found.submit(**said) for _ in range(4)]:
                await found.ended(accepted["task_id"])
            await _fires(found, "service_down", "failover")
            # Calls go to the second endpoint: the alert moved them, the breaker's window is far from full.
            moved = await found.ended((await found.submit(**said))["task_id"])
            assert moved["result"]["results"]["query"] == {"from": "query:standby"}

            throttled = await _fires(found, "errors_many", "throttle")
            assert throttled["action_result"]["requests_per_minute"]["*"] == 30
            assert await _is_refused(found, said)

            closer = await _fires(found, "service_slow", "watch_closely")
            assert closer["action_result"] == {"interval_seconds": 0.1}
            await _check_metrics(found)
            await _check_notices(engine, receiver)


@pytest.fixture
def every_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_ALERTS", "on")
    monkeypatch.setenv("DOCPROC_ALERT_INTERVAL_SECONDS", "1")


@ONE
async def test_medium_alert_has_metrics_looked_at_more_often(every_second: None, engine: Harness) -> None:
    """B19: the history gets a sample every second, and several a second while the alert is open."""

    async def seconds_of(samples: int) -> float:
        """How long that many looks take."""
        seen = 0
        began: float | None = None

        async def is_over() -> bool:
            nonlocal seen, began
            query = "SELECT sum(samples) AS number FROM metric_history WHERE metric = 'queue.depth' AND "
            query += "resolution = 'hour' AND series LIKE '%agent:execution%'"
            number = int((await engine.query(query))[0].number or 0)
            if began is None and number > 0:
                seen, began = number, time.monotonic()
            return began is not None and number >= seen + samples

        await engine.until(is_over, f"{samples} looks")
        assert began is not None
        return (time.monotonic() - began) / samples

    async with running(engine) as (found, _services):
        before = await seconds_of(2)
        await found.ended((await found.submit(**task("agent.execute")))["task_id"])
        await _fires(found, "service_slow", "watch_closely")
        closer = await seconds_of(5)
    assert before > 0.7 and closer < before / 2, (before, closer)


async def _fires(found: Orchestrator, rule: str, action: str) -> dict[str, Any]:
    alert: dict[str, Any] = {}

    async def fired() -> bool:
        alerts = (await found.http.get("/alerts?state=all")).json()["alerts"]
        mine = [one for one in alerts if one["rule"] == rule and one["action_state"] in ("begun", "ended")]
        alert.update(mine[0] if mine else {})
        return bool(mine)

    await found.harness.until(fired, f"{rule} fires")
    assert alert["action"] == action
    return alert


async def _is_refused(found: Orchestrator, said: dict[str, Any]) -> bool:
    for _ in range(62):  # the turn of a minute allows as many again
        answer = await found.http.post("/api/v1/tasks", json=said)
        if answer.status_code == 429:
            assert int(answer.headers["retry-after"]) > 0
            return True
    return False


async def _check_metrics(found: Orchestrator) -> None:
    metrics = (await found.http.get("/monitor/metrics")).json()["metrics"]
    assert {one["metric"] for one in metrics} >= {
        "queue.depth",
        "message.processing_time",
        "service.availability",
        "message.error_rate",
        "service.latency",
        "circuit_breaker.state",
        "system.throughput",
        "retry.count",
    }
    text = (await found.http.get("/monitor/prometheus")).text
    assert 'docproc_circuit_breaker_state{endpoint="primary",service="query-service"}' in text
    # The alerts are about services and types of tasks; pages by queue and tenant show only what is theirs.
    expected = {"": True, "/alerts": True, "/services": True, "/queues": False, "/tenants": False}
    for view, shows_alerts in expected.items():
        page = await found.http.get(f"/monitor{view}?lang=es")
        assert page.status_code == 200
        assert ("Avisos abiertos" in page.text) is shows_alerts, view


async def _check_notices(engine: Harness, receiver: Receiver) -> None:
    def told() -> bool:
        levels = {one.said["level"] for one in receiver.received}
        return {"critical", "high", "medium"} <= levels

    await engine.until(told, "the webhook is told")
    fired = [
        (alert["rule"], alert["labels"].get("service"))
        for one in receiver.received
        for alert in one.said["alerts"]
        if alert["kind"] == "fired"
    ]
    assert ("service_down", "query-service") in fired


async def _breaker(found: Orchestrator, service: str) -> str | None:
    known = (await found.http.get("/api/v1/degradation")).json()["breakers"]
    states = [one["state"] for one in known if (one["service"], one["endpoint"]) == (service, "primary")]
    return str(states[0]) if states else None
