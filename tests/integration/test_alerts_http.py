"""Alerts over HTTP: tenants see what is theirs, those who look after the deployment see everything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from docproc.alerts import history, store
from docproc.alerts.evaluation import Fired
from docproc.alerts.rules import Above, Level, Rule
from docproc.alerts.samples import Sample
from docproc.console.servers import gateway
from docproc.engine.message import utc_now
from docproc.http.access.scopes import Scope
from tests import tenancy
from tests.harness import Harness

RULE = Rule("deep", "queue.depth", ("tenant",), Above(10), Level.MEDIUM)


@pytest.fixture
async def client(sqlite_engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    await tenancy.on(sqlite_engine)
    await tenancy.add_tenant(sqlite_engine, "acme")
    samples = [Sample("queue.depth", 20, {"tenant": tenant}) for tenant in ("acme", "default")]
    async with sqlite_engine.app.store.writing() as session:
        await history.record(session, [*samples, Sample("system.throughput", 3.5, {})], utc_now())
        for sample in samples:
            assert await store.fire(session, Fired(RULE, sample, 10), utc_now())
    transport = httpx.ASGITransport(gateway(sqlite_engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as found:
        yield found


async def seen(client: httpx.AsyncClient, engine: Harness, tenant: str, *scopes: Scope) -> dict[str, Any]:
    made = await tenancy.make_key(engine, tenant, *scopes)
    headers = {"Authorization": f"Bearer {made.secret}"}
    alerts = (await client.get("/alerts", headers=headers)).json()["alerts"]
    metrics = (await client.get("/monitor/metrics", headers=headers)).json()["metrics"]
    text = (await client.get("/monitor/prometheus", headers=headers)).text
    page = (await client.get("/monitor/tenants", headers=headers)).text
    return {
        "alerts": sorted(one["labels"]["tenant"] for one in alerts),
        "metrics": sorted((one["metric"], one["labels"].get("tenant", "")) for one in metrics),
        "prometheus": [name for name in ("acme", "default") if f'tenant="{name}"' in text],
        "page": "acme" in page,
    }


async def test_a_tenant_sees_what_is_its_own(client: httpx.AsyncClient, sqlite_engine: Harness) -> None:
    assert await seen(client, sqlite_engine, "acme", Scope.READ, Scope.ADMIN) == {
        "alerts": ["acme"],
        "metrics": [("queue.depth", "acme")],
        "prometheus": ["acme"],
        "page": True,
    }
    # A plain key of the default tenant is one of many tenants' keys.
    found = await seen(client, sqlite_engine, "default", Scope.READ)
    assert found == {
        "alerts": ["default"],
        "metrics": [("queue.depth", "default"), ("system.throughput", "")],
        "prometheus": ["default"],
        "page": False,
    }


async def test_who_looks_after_the_deployment_sees_everything(
    client: httpx.AsyncClient, sqlite_engine: Harness
) -> None:
    found = await seen(client, sqlite_engine, "default", Scope.READ, Scope.ADMIN)
    assert (found["alerts"], found["prometheus"]) == (["acme", "default"], ["acme", "default"])
    assert len(found["metrics"]) == 3


async def test_only_they_set_the_degradation_level(client: httpx.AsyncClient, sqlite_engine: Harness) -> None:
    statuses = []
    for tenant, scopes in (
        ("acme", (Scope.ADMIN,)),
        ("default", (Scope.READ,)),
        ("default", (Scope.ADMIN,)),
    ):
        made = await tenancy.make_key(sqlite_engine, tenant, *scopes)
        headers = {"Authorization": f"Bearer {made.secret}"}
        answer = await client.put("/api/v1/degradation", json={"level": "reduced"}, headers=headers)
        statuses.append(answer.status_code)
    assert statuses == [403, 403, 200]


async def test_rules_are_told(client: httpx.AsyncClient, sqlite_engine: Harness) -> None:
    made = await tenancy.make_key(sqlite_engine, "default", Scope.READ)
    answer = await client.get("/alerts/rules", headers={"Authorization": f"Bearer {made.secret}"})
    rules = {one["name"]: (one["level"], one["threshold"], one["action"]) for one in answer.json()["rules"]}
    assert rules == {
        # Of every deployment.
        "disk_full": ("critical", 0.03, None),
        "disk_low": ("high", 0.1, None),
        "dead_letters": ("high", 0, None),
        "queue_old": ("high", 300, "watch_closely"),
        # §9.3 of the specification of documents.
        "manual_queue_long": ("medium", 50, None),
        "reading_slow": ("medium", None, "watch_closely"),
        "people_short": ("high", 0, None),
        "deadline_near": ("high", 0, "escalate"),
        "volume_high": ("medium", None, "watch_closely"),
        # §8.1 and §8.3 of the orchestrator's specification.
        "service_down": ("critical", 0.01, "failover"),
        "service_stalled": ("critical", 10, "failover"),
        "breaker_open": ("critical", 0.9, "failover"),
        "errors_many": ("high", 0.05, "throttle"),
        "queue_overflowing": ("high", 5000, "throttle"),
        "internal_errors": ("high", 0, None),
        "errors": ("medium", 0.01, "watch_closely"),
        "service_slow": ("medium", 2, "watch_closely"),
        "service_failing": ("medium", 0.99, "watch_closely"),
        "queue_deep": ("medium", 1000, "watch_closely"),
        "processing_slow": ("medium", 5, "watch_closely"),
        "retries_many": ("medium", 5, "watch_closely"),
        "service_less_quick": ("low", 1, "summarise"),
        "latency_unusual": ("low", None, "summarise"),
    }
