"""Files of submissions that came to nothing are found and removed; everything else stays."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import uuid4

from docproc.http.orphans import sweep_orphans, sweep_scratch
from docproc.http.reception import Arrival, reception_of
from tests.harness import Harness

HOUR = timedelta(hours=1)


async def one(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def test_only_old_files_without_a_request_are_swept(sqlite_engine: Harness) -> None:
    app = sqlite_engine.app
    reception, root = reception_of(app), app.settings.effective_storage_path
    known, orphan, young = (reception.new_request_id() for _ in range(3))
    for request_id in (known, orphan, young):
        upload = await reception.store_file(request_id, 0, "a.pdf", one(b"x"))
        if request_id == known:
            await reception.submit(known, [upload], Arrival())
    (root / "not-ours").mkdir()
    two_hours_ago = time.time() - 7200
    for name in (str(known), str(orphan), "not-ours"):
        os.utime(root / name, (two_hours_ago, two_hours_ago))

    assert await sweep_orphans(app.store, app.blobs, HOUR) == [str(orphan)]
    left = {path.name for path in root.iterdir() if not path.name.startswith(".")}
    assert left == {str(known), str(young), "not-ours"}
    assert await sweep_orphans(app.store, app.blobs, HOUR) == []


async def test_many_orphans_are_swept_at_once(sqlite_engine: Harness) -> None:
    app = sqlite_engine.app
    root = app.settings.effective_storage_path
    for _ in range(1100):
        (root / str(uuid4())).mkdir(parents=True)
    assert len(await sweep_orphans(app.store, app.blobs, timedelta(0))) == 1100


async def test_what_killed_processes_left_half_made_is_swept_after_a_day(sqlite_engine: Harness) -> None:
    blobs, scratch = sqlite_engine.app.blobs, sqlite_engine.settings.effective_storage_path / ".scratch"
    for name, hours in (("yesterday", 25), ("today", 23)):
        (scratch / name).mkdir(parents=True)
        (scratch / name / "blob").touch()
        then = time.time() - hours * 3600
        for path in (scratch / name / "blob", scratch / name):
            os.utime(path, (then, then))
    assert await sweep_scratch(blobs) == 1
    assert [path.name for path in scratch.iterdir()] == ["today"]
