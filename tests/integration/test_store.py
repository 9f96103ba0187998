"""The store on both databases: migrations, gapless history, sweeping."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection

from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import events, messages, migrate, requests, rows, schema_version, sweep, turns
from docproc.engine.store.session import Store
from docproc.engine.store.standing import Standing
from docproc.engine.store.tables import Base, DeadLetter, MessageState, Request
from tests import schema


async def test_migrations_make_what_the_tables_declare(store: Store) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        return list(compare_metadata(context, Base.metadata))

    async with store.writing() as session:
        found = await (await session.connection()).run_sync(differences)
    # Alembic cannot compare the order-of-work indexes (they have an expression) nor the circular foreign key.
    # The versions of applications' schemas are Alembic's own tables; SQLite's full-text search has some, too.
    uncomparable = (
        *("search_words", "ix_search_entries_words"),
        *("ix_messages_turn", "ix_backoffice_tasks_next", "fk_operators_current_task"),
        *(branch.version_table for branch in schema.APPLICATIONS.migrations),
    )
    assert [d for d in found if not any(name in str(d) for name in uncomparable)] == []


def test_head_is_the_one_alembic_finds() -> None:
    """It is read off the files without Alembic, which every process would have to import when it starts."""
    for branch in (None, *schema.APPLICATIONS.migrations):
        scripts = migrate.scripts(branch)
        chain = schema_version.Chain.of(branch)
        assert chain.head == scripts.get_current_head()
        assert chain.known == {script.revision for script in scripts.walk_revisions()}


async def test_migrations_go_down_and_up_again(store: Store) -> None:
    await migrate.downgrade(store, schema.APPLICATIONS.migrations)
    assert await schema_version.current(store) is None
    await schema.upgrade(store)
    assert await schema_version.is_current(store, schema.APPLICATIONS.migrations)


async def test_processes_that_migrate_at_once_do_it_once(store: Store) -> None:
    await migrate.downgrade(store, schema.APPLICATIONS.migrations)
    others = [Store(str(store.url.render_as_string(hide_password=False))) for _ in range(3)]
    await asyncio.gather(*(schema.upgrade(other) for other in others))
    for other in others:
        await other.close()
    assert await schema_version.is_current(store, schema.APPLICATIONS.migrations)


async def test_schema_newer_than_the_program_is_worked_on(store: Store) -> None:
    async with store.writing() as session:
        await rows.execute(session, "UPDATE alembic_version SET version_num = 'from the future'")
    assert await schema_version.is_current(store, schema.APPLICATIONS.migrations)


async def test_every_row_carries_its_tenant() -> None:
    assert [name for name, table in Base.metadata.tables.items() if "tenant_id" not in table.c] == []


async def test_reader_that_resumes_never_skips_an_event(store: Store) -> None:
    """On PostgreSQL a row with a lower id may commit later than one with a higher id."""
    request_id = uuid4()
    seen: list[str] = []
    position = events.Position()

    async def read() -> None:
        nonlocal position
        async with store.reading() as session:
            for row in await events.read(session, request_id, position):
                seen.append(row.kind)
                position = events.Position(row.transaction_id, row.id)

    if store.is_sqlite:
        for kind in ("early", "late"):
            async with store.writing() as session:
                await events.record(session, [events.Event(request_id, kind)])
            await read()
    else:
        async with store.writing() as slow:
            await events.record(slow, [events.Event(request_id, "early")])
            async with store.writing() as fast:
                await events.record(fast, [events.Event(request_id, "late")])
            await read()  # `late` is committed and `early` is not: neither may be shown yet
            assert seen == []
        # Transactions of other databases on the server hold events back, too, while they last.
        async with asyncio.timeout(20):
            while len(seen) < 2:
                await read()
                await asyncio.sleep(0.01)
    assert seen == ["early", "late"]


async def test_waiting_messages_of_a_tenant_are_counted_as_far_as_asked(store: Store) -> None:
    sent = [
        PipelineMessage(request_id=uuid4(), tenant_id=tenant, current_stage="work")
        for tenant in ("one", "one", "one", "other")
    ]
    async with store.writing() as session:
        outgoing = [messages.Outgoing.of(one, "q.crowd") for one in sent]
        await messages.send(session, outgoing, state=MessageState.READY, worker_id=None)
    async with store.reading() as session:
        numbers = [await turns.waiting(session, "q.crowd", one, 2) for one in ("one", "other", "nobody")]
    assert numbers == [2, 1, 0]


async def test_status_never_goes_backwards(store: Store) -> None:
    request_id = await _request(store, "extracting")
    processing = Standing("processing", ("received", "routing"))
    consolidating = Standing("consolidating", ("received", "routing", "extracting"))
    async with store.writing() as session:
        assert await requests.advance(session, [request_id], processing) == []
        assert await requests.advance(session, [request_id], consolidating) == [request_id]
    async with store.writing() as session:
        assert await requests.finish(session, request_id, {"n": 1}) == "completed"
        assert await requests.advance(session, [request_id], consolidating) == []
        assert not await requests.fail(session, request_id, {"code": "late"})


async def test_older_generation_never_replaces_a_newer_result(store: Store) -> None:
    request_id = await _request(store, "consolidating")
    for generation in (1, 3, 2):
        async with store.writing() as session:
            await requests.finish(session, request_id, {"generation": generation}, generation)
    async with store.reading() as session:
        request = await session.get_one(Request, request_id)
        assert request.result_payload == {"generation": 3}


async def test_sweep_removes_engine_rows_of_old_ended_requests_only(store: Store) -> None:
    old, young, running, unsettled = [await _request(store, "received") for _ in range(4)]
    for request_id in (old, young, unsettled):
        async with store.writing() as session:
            await requests.finish(session, request_id, {"kept": True})
    async with store.writing() as session:
        session.add(DeadLetter(request_id=unsettled, queue="q", reason="r", attempts=1, body=b""))
        for request_id in (old, unsettled):
            (await session.get_one(Request, request_id)).completed_at = utc_now() - timedelta(days=40)
        await events.record(session, [events.Event(running, "status")])
    assert await sweep.sweep(store, retention_days=30) == 1
    async with store.reading() as session:
        counts = {r: await events.count(session, r, "status") for r in (old, young, running, unsettled)}
        assert (await session.get_one(Request, old)).result_payload == {"kept": True}
    assert counts == {old: 0, young: 1, running: 1, unsettled: 1}


async def _request(store: Store, status: str) -> UUID:
    request_id = uuid4()
    async with store.writing() as session:
        session.add(Request(id=request_id, workflow_name="w", status=status))
    return request_id
