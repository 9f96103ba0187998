"""Promotion on both databases: golden cases, environments as pointers, refusals, and going back by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from docproc.app import open_database
from docproc.engine.message import utc_now
from docproc.engine.running.erasing import BY_RETENTION
from docproc.engine.running.intake import Submission
from docproc.engine.store import environments, events
from docproc.engine.store.environments import Environment
from docproc.engine.store.tables import Request
from docproc.engine.workflow import versions
from docproc.errors import RequestConflictError, UnknownRequestError, UsageError
from docproc.promotion import cases, promoting, shadowing, suite, watching
from docproc.promotion.promoting import Promoted
from docproc.settings import Settings
from tests.harness import Harness, filled, opened, settings_for

PRODUCTION, STAGING = Environment.PRODUCTION, Environment.STAGING


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """As in production."""
    more: dict[str, Any] = {}
    if request.param == "postgresql":
        more["database_url"] = request.getfixturevalue("postgres_url")
    return settings_for(tmp_path, environment="production", **more)


@pytest.fixture
async def engine(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Harness]:
    """Of answers the names of the stages that did the work are compared."""
    monkeypatch.setattr(versions, "POINTER_SECONDS", 0.0)
    for module in (cases, suite, shadowing):
        monkeypatch.setattr(module, "comparable_of", lambda app, workflow: lambda result: result["done"])
    async with opened(settings) as harness:
        write(harness, "first")
        yield harness


async def promote(engine: Harness, to: Environment, **more: Any) -> Promoted:
    """By a process of its own, as the command does it."""
    async with open_database(engine.settings) as app:
        return await promoting.promote(app, "flow", to, by="eva", **more)


def write(engine: Harness, stage: str, description: str = "") -> str:
    """The workflow's file; its version."""
    engine.workflow("flow", f"description: '{description}'\nstages: [{{name: {stage}, component: work}}]")
    return engine.app.loader.load("flow").content_version


async def answered(engine: Harness, file: bytes = b"content") -> UUID:
    """A request with a file and a complete answer."""
    request_id = uuid4()

    async def chunks() -> AsyncIterator[bytes]:
        yield file

    key = f"{request_id}/in/0-a.txt"
    blob = await engine.app.blobs.put(key, chunks(), max_bytes=100, tenant="default")
    upload = {"key": key, "name": "a.txt", "size": blob.size, "sha256": blob.sha256}
    submission = Submission("flow", {"files": [upload]}, request_id=request_id, uploads=[upload])
    await engine.app.intake.submit(submission)
    await engine.finished(request_id)
    return request_id


async def with_case(engine: Harness) -> UUID:
    """One golden case, made from a request whose time is over afterwards; the case's id."""
    running = await engine.start("work")
    request_id = await answered(engine)
    case = await cases.add(engine.app, request_id, by="eva")
    await engine.stop(running)
    assert await engine.app.erasure._erase(request_id, BY_RETENTION, None)
    return case.id


async def version_of_new(engine: Harness) -> str:
    """Which version a request takes that comes now."""
    request = await engine.request(await engine.app.intake.submit(Submission("flow", {})))
    return str(filled(request.workflow_version))


# --- cases ------------------------------------------------------------------------------------------------


async def test_case_outlives_the_retention_of_the_request_it_was_made_from(engine: Harness) -> None:
    case_id = await with_case(engine)
    (case,) = await cases.cases(engine.app, "flow")
    assert (case.id, case.expected, case.title, case.made_by) == (case_id, ["first"], "a.txt", "eva")
    assert await engine.app.blobs.exists(case.uploads[0]["key"])
    await cases.remove(engine.app, case_id)
    assert await cases.cases(engine.app) == []
    assert not await engine.app.blobs.exists(case.uploads[0]["key"])
    with pytest.raises(UnknownRequestError, match="no case"):
        await cases.remove(engine.app, case_id)


async def test_whoever_erases_a_request_erases_its_cases(engine: Harness) -> None:
    await engine.start("work")
    request_id = await answered(engine)
    case = await cases.add(engine.app, request_id, by="eva")
    await engine.app.erasure.erase(request_id, "test")
    assert await cases.cases(engine.app) == []
    assert not await engine.app.blobs.exists(case.uploads[0]["key"])


async def test_only_complete_answers_to_files_can_be_vouched_for(engine: Harness) -> None:
    without_files = await engine.app.intake.submit(Submission("flow", {}))
    with pytest.raises(RequestConflictError, match="no complete answer"):
        await cases.add(engine.app, without_files, by="eva")
    await engine.start("work")
    await engine.finished(without_files)
    with pytest.raises(RequestConflictError, match="without files"):
        await cases.add(engine.app, without_files, by="eva")
    with pytest.raises(UnknownRequestError):
        await cases.add(engine.app, uuid4(), by="eva")


# --- promoting --------------------------------------------------------------------------------------------


async def test_file_decides_until_something_is_promoted_and_the_pointer_after_that(engine: Harness) -> None:
    await with_case(engine)
    first = engine.app.loader.load("flow").content_version
    assert await version_of_new(engine) == first
    assert (await promote(engine, PRODUCTION)).verdict.accepted
    second = write(engine, "first", "better told")
    assert second != first
    assert await version_of_new(engine) == first, "a changed file alone changes nothing in production"
    found = await promote(engine, PRODUCTION)
    assert (found.verdict.accepted, found.live_version, found.version) == (True, first, second)
    assert await version_of_new(engine) == second
    assert await promoting.roll_back(engine.app, "flow", PRODUCTION, by="eva") == first
    assert await version_of_new(engine) == first


async def test_worse_version_is_refused_with_the_difference(engine: Harness) -> None:
    await with_case(engine)
    await promote(engine, PRODUCTION)
    live = await version_of_new(engine)
    write(engine, "second")
    told: list[tuple[str, bool]] = []
    found = await promote(engine, PRODUCTION, tell=lambda name, one: told.append((name, one.passed)))
    assert not found.verdict.accepted
    assert found.verdict.reasons[1] == "a.txt: [0]: expected 'first', answered 'second'"
    assert told == [("candidate", False), ("live", True)]
    assert await version_of_new(engine) == live
    left = await engine.query("SELECT count(*) FROM requests WHERE channel = 'golden'")
    assert [tuple(row) for row in left] == [(0,)], "nothing is left of the suite's own requests"


async def test_production_gets_what_staging_runs(engine: Harness) -> None:
    await with_case(engine)
    staged = (await promote(engine, STAGING)).version
    write(engine, "first", "newer than staging")
    assert (await promote(engine, PRODUCTION)).version == staged
    with pytest.raises(UsageError, match="already"):
        await promote(engine, PRODUCTION)
    with pytest.raises(UsageError, match="nothing is promoted to development"):
        await promote(engine, Environment.DEVELOPMENT)


async def test_nothing_is_promoted_without_cases_or_put_back_without_a_version_before(
    engine: Harness,
) -> None:
    assert not (await promote(engine, PRODUCTION)).verdict.accepted
    with pytest.raises(UsageError, match="had no version"):
        await promoting.roll_back(engine.app, "flow", PRODUCTION, by="eva")


# --- shadows ----------------------------------------------------------------------------------------------


async def test_shadow_is_compared_and_changes_no_answer(engine: Harness) -> None:
    live = write(engine, "first")
    async with engine.app.store.writing() as session:
        await engine.app.versions.pin(session, "flow")
        await environments.point(session, PRODUCTION, "flow", live, by="eva")
    write(engine, "second")
    with pytest.raises(UsageError, match="on trial"):
        await shadowing.report(engine.app, "flow")
    tried = await shadowing.begin(engine.app, "flow", 1.0, by="eva")
    await engine.start("work")
    request = await engine.request(await answered(engine))
    assert filled(request.result_payload)["done"] == ["first"] and request.workflow_version == live

    async def shadow_ended() -> bool:
        query = "SELECT count(*) FROM requests WHERE channel = 'shadow' AND status = 'completed'"
        return [tuple(row) for row in await engine.query(query)] == [(1,)]

    await engine.until(shadow_ended, "the shadow ends")
    found = await shadowing.report(engine.app, "flow")
    assert (found.version, found.compared, found.agreed, found.failed) == (tried, 1, 0, 0)
    assert found.examples == ((str(request.id), "[0]: expected 'first', answered 'second'"),)
    [shadow] = await engine.query(
        "SELECT priority, linked_to, link, callback_url, next_check_at FROM requests WHERE channel = 'shadow'"
    )
    assert (shadow.priority, shadow.link) == (0, "shadow")
    assert (shadow.callback_url, shadow.next_check_at) == (None, None)
    await shadowing.begin(engine.app, "flow", 0.0, by="eva")
    await answered(engine)
    count = await engine.query("SELECT count(*) FROM requests WHERE channel = 'shadow'")
    assert [tuple(row) for row in count] == [(1,)]


# --- watching ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "worse"), [("failures", 30), ("overrides", 30), ("failures", 2)])
async def test_version_that_does_worse_goes_back_by_itself_once(
    engine: Harness, rate: str, worse: int
) -> None:
    async with engine.app.store.writing() as session:
        for version in ("old", "new"):
            await environments.point(session, PRODUCTION, "flow", version, by="eva")
        await _history(session, "old", rate, 2)
        await _history(session, "new", rate, worse)
    back = await watching.look(engine.app, PRODUCTION)
    async with engine.app.store.reading() as session:
        current = filled(await environments.current(session, PRODUCTION, "flow"))
    if worse == 2:
        assert (back, current.version) == ([], "new")
        return
    assert (back, current.version, current.kind) == (["flow"], "old", "rolled_back")
    assert filled(current.reason)["rate"] == rate and filled(current.reason)["share"] == 0.12
    assert await watching.look(engine.app, PRODUCTION) == []


async def _history(session: Any, version: str, rate: str, number: int) -> None:
    """250 finished requests of a version, so many of which failed or were corrected."""
    for index in range(250):
        is_hit = index < number
        request = Request(
            id=uuid4(),
            workflow_name="flow",
            workflow_version=version,
            status="failed" if is_hit and rate == "failures" else "completed",
            completed_at=utc_now(),
        )
        session.add(request)
        await session.flush()
        if is_hit and rate == "overrides":
            await events.record(session, [events.Event(request.id, "correction", outcome="recorded")])
