"""Before the first request: everything is tried once, and nothing is left behind."""

from __future__ import annotations

import time

from docproc.apps.documents import rehearsal
from docproc.engine.running.pools import Pools
from tests.harness import Harness

ONE = "stages: [{name: work, component: work}]"
# What a request writes.
TABLES = ("requests", "messages", "events", "answers", "workflow_versions", "deliveries")


async def test_rehearsed_request_leaves_nothing_behind(engine: Harness) -> None:
    engine.workflow("one", ONE)
    await engine.app.rehearse()
    for table in TABLES:
        assert await engine.query(f"SELECT count(*) FROM {table}") == [(0,)], table
    await engine.start("work")
    assert (await engine.run("one")).status == "completed"
    versions = await engine.query("SELECT count(*) FROM workflow_versions")
    assert versions == [(1,)], "the rehearsal did not make it believe that the version is on record"


async def test_rehearsal_without_a_database_is_no_trouble(engine: Harness) -> None:
    engine.workflow("one", ONE)
    await engine.query("ALTER TABLE requests RENAME TO gone")
    try:
        await engine.app.rehearse()
    finally:
        await engine.query("ALTER TABLE gone RENAME TO requests")


def test_sample_is_a_file_with_a_text_layer_that_is_read() -> None:
    rehearsal.rehearse_files()
    assert rehearsal.sample_pdf().startswith(b"%PDF")


async def test_warm_up_waits_for_every_child() -> None:
    pools = Pools(workers=2)
    pools.warm_children(time.sleep, 0.3)
    try:
        started = time.monotonic()
        await pools.warm_up()
        assert time.monotonic() - started >= 0.3
        assert pools._children is not None
        assert [keeper.is_serving for keeper in pools._children._keepers] == [True, True]
    finally:
        pools.close()


async def test_nothing_to_warm_starts_no_child() -> None:
    pools = Pools(workers=2)
    await pools.warm_up()
    assert pools._children is None
