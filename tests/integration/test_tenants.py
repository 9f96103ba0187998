"""Tenants: own workflows, thresholds, callbacks, retention and quotas; and nothing of it for who has none."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

from docproc.apps.documents.tables import File
from docproc.engine.message import utc_now
from docproc.engine.running import quotas
from docproc.engine.running.intake import Submission
from docproc.engine.store import requests, tenants
from docproc.engine.store.tables import Request, WorkflowVersion
from docproc.errors import QuotaError, UnknownTenantError, UnknownWorkflowError
from docproc.http.callbacks import secret, signature
from docproc.http.reception import Arrival, reception_of
from tests import tenancy
from tests.harness import Harness
from tests.tenancy import ACME, BETA

BOTH = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+sql"])
FLOW = "stages: [{name: work, component: work, confidence_threshold: 0.5}]\n"


@pytest.fixture
def combination() -> str:
    return "sqlite+sql"


async def _submit(engine: Harness, tenant: str = "default", workflow: str = "flow", **values: Any) -> UUID:
    return await engine.app.intake.submit(Submission(workflow, tenant_id=tenant, **values))


def _own(engine: Harness, tenant: str, name: str, text: str) -> None:
    folder = engine.settings.workflows_dir / "tenants" / tenant
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(f"name: {name}\n{text}", encoding="utf-8")


async def _version(engine: Harness, request_id: UUID) -> Any:
    """The flow that a request keeps."""
    request = await engine.request(request_id)
    query = select(WorkflowVersion).where(
        WorkflowVersion.name == request.workflow_name, WorkflowVersion.version == request.workflow_version
    )
    async with engine.app.store.reading() as session:
        return json.loads((await session.scalars(query)).one().definition)


# --- workflows and thresholds ---------------------------------------------------------------------------


async def test_a_tenants_own_workflow_goes_before_the_common_one_and_is_nobody_elses(engine: Harness) -> None:
    await tenancy.add_tenant(engine, ACME)
    engine.workflow("flow", FLOW)
    _own(engine, ACME, "flow", "description: of Acme\n" + FLOW)
    _own(engine, ACME, "special", FLOW)
    theirs, common = await _submit(engine, ACME), await _submit(engine)
    assert (await _version(engine, theirs))["description"] == "of Acme"
    assert (await _version(engine, common)).get("description", "") == ""
    await _submit(engine, ACME, "special")
    with pytest.raises(UnknownWorkflowError):
        await _submit(engine, workflow="special")
    assert "special" not in engine.app.loader.names()
    assert "special" in engine.app.loader.of(ACME).names()
    for stranger in ("../acme", "..", "", "acme/..", "ACME", "tenants"):
        assert engine.app.loader.of(stranger) is engine.app.loader


async def test_running_requests_of_both_take_their_own_way(engine: Harness) -> None:
    """Caches know workflows by content: two of one name do not meet."""
    await tenancy.add_tenant(engine, ACME)
    engine.workflow("flow", FLOW)
    _own(engine, ACME, "flow", "stages: [{name: first, component: work}, {name: second, component: work}]\n")
    await engine.start("work")
    ids = {tenant: await _submit(engine, tenant) for tenant in (ACME, "default")}
    for tenant, stages in ((ACME, ["first", "second"]), ("default", ["work"])):
        assert (await engine.finished(ids[tenant])).status == "completed"
        handled = await engine.events(ids[tenant], "handled")
        assert [event.stage for event in handled] == stages
        assert {event.tenant_id for event in await engine.events(ids[tenant])} == {tenant}


async def test_router_chooses_among_the_tenants_own_workflows(engine: Harness) -> None:
    await tenancy.add_tenant(engine, ACME)
    engine.workflow("default", FLOW)
    _own(engine, ACME, "loans", "accepts: channel == 'bank'\n" + FLOW)
    await engine.start("work", "workflow_router")
    for tenant, chosen in ((ACME, "loans"), ("default", "default")):
        payload = {"workflow_named": False, "channel": "bank"}
        request_id = await _submit(engine, tenant, "default", payload=payload, via="request.new")
        assert (await engine.finished(request_id)).workflow_name == chosen


async def test_thresholds_of_a_tenant_are_part_of_the_version_that_its_requests_keep(engine: Harness) -> None:
    await tenancy.add_tenant(engine, ACME, settings={"thresholds": {"work": 0.9, "unused": 0.1}})
    engine.workflow("flow", FLOW)
    for tenant, threshold in ((ACME, 0.9), ("default", 0.5)):
        stage = (await _version(engine, await _submit(engine, tenant)))["stages"][0]
        assert stage["confidence_threshold"] == threshold


async def test_nobody_is_submitted_for_who_is_not_there(engine: Harness) -> None:
    engine.workflow("flow", FLOW)
    with pytest.raises(UnknownTenantError, match="there is no tenant"):
        await _submit(engine, "nobody")
    await tenancy.add_tenant(engine, ACME, is_active=False)
    with pytest.raises(UnknownTenantError, match="switched off"):
        await _submit(engine, ACME)
    assert await engine.query("SELECT 1 FROM requests") == []


async def test_settings_of_a_newer_release_count_as_far_as_they_are_understood(engine: Harness) -> None:
    said = {"from_the_future": 1, "quotas": {"at_once": 3}}
    await tenancy.add_tenant(engine, ACME, settings=said)
    assert (await engine.app.tenants.of(ACME)).settings.quotas.at_once == 3
    await tenancy.add_tenant(engine, BETA, settings={"quotas": {"at_once": "many"}})
    assert (await engine.app.tenants.of(BETA)).settings.quotas.at_once is None


# --- quotas ---------------------------------------------------------------------------------------------


async def _with_quota(engine: Harness, **said: int) -> None:
    await tenancy.add_tenant(engine, ACME, settings={"quotas": said})
    engine.workflow("flow", FLOW)


@BOTH
async def test_of_many_at_once_no_more_come_in_than_may(engine: Harness) -> None:
    await _with_quota(engine, at_once=3)
    results = await asyncio.gather(*(_submit(engine, ACME) for _ in range(8)), return_exceptions=True)
    accepted = [one for one in results if isinstance(one, UUID)]
    refused = [one for one in results if isinstance(one, QuotaError)]
    assert (len(accepted), len(refused)) == (3, 5) and refused[0].retry_seconds >= 1
    async with engine.app.store.writing() as session:
        await requests.finish(session, accepted[0], {})
    await _submit(engine, ACME)
    with pytest.raises(QuotaError, match="are open"):
        await _submit(engine, ACME)
    await _submit(engine)  # others are not concerned


@BOTH
async def test_requests_of_a_minute_are_counted_exactly(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _with_quota(engine, requests_per_minute=4)
    now = datetime.fromisoformat("2026-03-12T10:00:15+00:00")
    monkeypatch.setattr("docproc.engine.running.intake.utc_now", lambda: now)
    results = await asyncio.gather(*(_submit(engine, ACME) for _ in range(9)), return_exceptions=True)
    refused = [one for one in results if isinstance(one, QuotaError)]
    assert len(refused) == 5 and {one.retry_seconds for one in refused} == {45}
    now += timedelta(seconds=45)
    await _submit(engine, ACME)


async def test_repeated_submission_is_never_refused(engine: Harness) -> None:
    await _with_quota(engine, requests_per_minute=1, at_once=1)
    first = await _submit(engine, ACME, idempotency_key="once")
    assert await _submit(engine, ACME, idempotency_key="once") == first


@BOTH
async def test_units_of_a_day_are_what_the_application_counts_and_erasing_gives_none_back(
    engine: Harness,
) -> None:
    await _with_quota(engine, units_per_day=5)
    first, second = await _submit(engine, ACME), await _submit(engine, ACME)
    async with engine.app.store.writing() as session:
        for request_id, pages in ((first, 3), (second, 2)):
            session.add(
                File(
                    request_id=request_id, tenant_id=ACME, file_index=0, name="a.pdf",
                    media_type="application/pdf", page_count=pages,
                )
            )  # fmt: skip
    with pytest.raises(QuotaError, match="its 5 units") as refused:
        await _submit(engine, ACME)
    assert 1 <= refused.value.retry_seconds <= 86_400
    await engine.app.erasure.erase(first, "test")
    with pytest.raises(QuotaError):
        await _submit(engine, ACME)
    yesterday = utc_now() - timedelta(days=1, hours=1)
    async with engine.app.store.writing() as session:
        await session.execute(update(Request).where(Request.id == second).values(created_at=yesterday))
        assert await quotas.used_today(session, ACME, engine.app.applications.units, utc_now()) == 3
    await _submit(engine, ACME)


# --- callbacks and retention ----------------------------------------------------------------------------


async def test_answers_go_where_the_tenant_says_and_are_signed_with_its_own_secret(engine: Harness) -> None:
    await tenancy.add_tenant(engine, ACME, settings={"callback_url": "https://acme.example/answers"})
    reception = reception_of(engine.app)
    assert await reception.callback_url(Arrival(tenant_id=ACME)) == "https://acme.example/answers"
    assert await reception.callback_url(Arrival()) is None
    secrets = {tenant: secret.secret_of(engine.settings, tenant) for tenant in ("default", ACME, BETA)}
    assert len(set(secrets.values())) == 3
    known = secret.key_for(engine.settings)
    assert known is not None and signature.key_of(secrets["default"]) == known
    assert signature.key_of(secrets[ACME]) == signature.key_of_tenant(known, ACME)


async def test_retention_of_a_tenant_goes_before_the_workflows(engine: Harness) -> None:
    await tenancy.add_tenant(engine, ACME, settings={"retention": {"content_days": 30}})
    engine.workflow("flow", "retention: {content_days: 5}\n" + FLOW)
    ids = {tenant: await _submit(engine, tenant) for tenant in (ACME, "default")}
    ended = utc_now() - timedelta(days=10)
    async with engine.app.store.writing() as session:
        await session.execute(update(Request).values(status="completed", completed_at=ended))
    assert await engine.app.erasure.sweep() == 1
    rows = await engine.query("SELECT tenant_id FROM requests")
    assert [row.tenant_id for row in rows] == [ACME]
    async with engine.app.store.writing() as session:
        await session.execute(update(Request).values(completed_at=utc_now() - timedelta(days=31)))
    assert await engine.app.erasure.sweep() == 1
    erased = await engine.query("SELECT tenant_id FROM events WHERE kind = 'erased' ORDER BY id")
    assert [row.tenant_id for row in erased] == ["default", ACME]
    assert ids


async def test_default_needs_no_row_and_takes_settings_like_any_other(engine: Harness) -> None:
    assert (await engine.app.tenants.of("default")).is_active
    async with engine.app.store.writing() as session:
        assert await tenants.names(session) == ["default"]
        await tenants.add(session, "default", settings={"quotas": {"at_once": 1}})
    engine.app.tenants.forget()
    engine.workflow("flow", FLOW)
    await _submit(engine)
    with pytest.raises(QuotaError):
        await _submit(engine)
