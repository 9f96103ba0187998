"""Frames on disk: whole or not there, counted once, filtered at most so often."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import cv2
import numpy as np
import pytest

from docproc.apps.video.errors import VideoError
from docproc.apps.video.film.info import FrameTime
from docproc.apps.video.frames import job as jobs
from docproc.apps.video.frames.collector import READ_AHEAD, FrameCollector
from docproc.apps.video.frames.files import FrameFiles, Originals, encode_png
from docproc.apps.video.frames.job import Job, TooOftenError
from docproc.apps.video.sessions import Session, Sessions
from docproc.apps.video.work.local import LocalWork

PICTURE = np.random.default_rng(7).integers(0, 255, (90, 160, 3), dtype=np.uint8)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    made = Sessions(tmp_path).of(uuid4())
    made.make()
    return made


def job_of(session: Session, index: int = 0, **more: Any) -> Job:
    return Job(session_id=session.session_id, index=index, filters=[{"name": "blur"}], **more)


@pytest.mark.parametrize("small", [False, True])
def test_png_loses_nothing(small: bool) -> None:
    found = cv2.imdecode(np.frombuffer(encode_png(PICTURE, small=small), np.uint8), cv2.IMREAD_COLOR)
    assert found is not None and np.array_equal(found, PICTURE)


def test_frame_is_there_when_both_files_are(session: Session) -> None:
    files = FrameFiles(session.frames)
    files.png(0).write_bytes(encode_png(PICTURE))
    files.facts(1).write_text("{}")
    files.write(2, PICTURE, {"a": 1})
    files.write_failure(3, {"frame": 3})
    (session.frames / ".frame_000004.json.x.tmp").write_text("{")
    assert (files.listing().ready, files.listing().failed) == (frozenset({2}), frozenset({3}))
    assert [files.is_settled(index) for index in range(5)] == [False, False, True, True, False]


def _write_over_and_over(folder: str, seconds: float) -> None:
    files, end, shade = FrameFiles(Path(folder)), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        shade = (shade + 1) % 256
        files.write(0, np.full((180, 320, 3), shade, np.uint8), {"shade": shade})


def test_no_reader_ever_sees_half_a_frame(session: Session) -> None:
    """Two workers write the same frame at once, as after a redelivery."""
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=_write_over_and_over, args=(str(session.frames), 2.0)) for _ in range(2)]
    for writer in writers:
        writer.start()
    files, reads = FrameFiles(session.frames), 0
    while any(writer.is_alive() for writer in writers):
        if 0 in files.listing().ready:
            image, facts = files.read(0)
            assert image.min() == image.max(), "one shade: written by one worker, whole"
            assert set(facts) == {"shade"}
            reads += 1
    assert reads > 50 and all(writer.exitcode == 0 for writer in writers)


def test_job_writes_frame_and_facts_once(session: Session, tmp_path: Path) -> None:
    Originals(session.originals).write(0, PICTURE)
    assert jobs.do(tmp_path, job_of(session), 4, "w") is True
    facts = FrameFiles(session.frames).read_facts(0)
    assert (facts["worker_id"], facts["attempts"], facts["filter_applied"]) == ("w", 1, "blur")
    assert jobs.do(tmp_path, job_of(session), 4) is False, "a second delivery finds it done"


def test_job_that_kills_its_workers_is_given_up(session: Session, tmp_path: Path) -> None:
    Originals(session.originals).write(0, PICTURE)
    files = FrameFiles(session.frames)
    for _ in range(4):
        files.note_try(0)  # four workers began it and died
    with pytest.raises(TooOftenError) as refused:
        jobs.do(tmp_path, job_of(session), 4)
    jobs.give_up(tmp_path, job_of(session), refused.value)
    assert files.listing().failed == {0}
    assert jobs.do(tmp_path, job_of(session), 4) is False


def test_job_of_a_film_that_is_over_does_nothing(session: Session, tmp_path: Path) -> None:
    session.remove()
    assert jobs.do(tmp_path, job_of(session), 4) is False
    jobs.give_up(tmp_path, job_of(session), ValueError())
    assert not session.frames.exists()


def test_job_names_no_path_and_no_code() -> None:
    for said in ({"session_id": "../../etc"}, {"index": -1}, {"index": "0/../x"}, {"run": "os.system"}):
        with pytest.raises(ValueError, match="validation error"):
            Job.model_validate({"session_id": str(uuid4()), "index": 0, "filters": [], **said})


def collector_of(session: Session, **more: Any) -> FrameCollector:
    files, originals = FrameFiles(session.frames), Originals(session.originals)
    return FrameCollector(files, originals, (160, 90), **{"timeout_seconds": 300.0, **more})


def expect(collector: FrameCollector, session: Session, *indices: int) -> None:
    for index in indices:
        collector.expect(job_of(session, index), FrameTime(index, index, 1))


async def test_collector_gives_frames_in_order_however_they_arrive(session: Session) -> None:
    collector, files = collector_of(session), FrameFiles(session.frames)
    expect(collector, session, 0, 1, 2)
    for index in (2, 0):
        files.write(index, PICTURE, {"index": index})
    assert await collector.look() == 2
    first = await collector.take(0, lambda: False)
    assert first is not None and first.facts == {"index": 0}
    waiting = asyncio.create_task(collector.take(1, lambda: False))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    files.write(1, PICTURE, {"index": 1})
    await collector.look()
    collector.wake()
    second = await asyncio.wait_for(waiting, 5)
    assert second is not None and second.facts == {"index": 1}
    third = await collector.take(2, lambda: False)
    assert third is not None and await collector.take(3, lambda: True) is None
    collector.close()


async def test_collector_holds_few_frames_in_memory(session: Session) -> None:
    collector, files = collector_of(session), FrameFiles(session.frames)
    count = READ_AHEAD * 3
    expect(collector, session, *range(count))
    for index in range(count):
        files.write(index, PICTURE, {})
    assert await collector.look() == count
    collector.read(0)
    collector.threads.shutdown(wait=True)
    assert len(collector.buffer._frames) == READ_AHEAD


async def test_failed_frame_is_its_original_at_once(session: Session) -> None:
    collector, originals = collector_of(session), Originals(session.originals)
    originals.write(0, PICTURE)
    expect(collector, session, 0)
    FrameFiles(session.frames).write_failure(0, jobs.failure_facts(job_of(session), ValueError("no")))
    await collector.look()
    found = await collector.take(0, lambda: False)
    assert found is not None and np.array_equal(found.image, PICTURE)
    assert found.failure is not None and found.failure["reason"] == "ValueError"
    collector.close()


async def test_frame_that_never_comes_times_out_from_the_last_arrival(session: Session) -> None:
    collector, files = collector_of(session, timeout_seconds=0.4), FrameFiles(session.frames)
    Originals(session.originals).write(1, PICTURE)
    expect(collector, session, 0, 1)
    await asyncio.sleep(0.3)
    files.write(0, PICTURE, {})
    await collector.look()
    await asyncio.sleep(0.2)
    await collector.look()
    assert list(collector.waiting) == [1], "half a second since it was sent, but others came"
    await asyncio.sleep(0.3)
    await collector.look()
    assert not collector.waiting and files.listing().failed == {1}
    assert json.loads(files.failure(1).read_text())["reason"] == "timed out"
    collector.close()


async def test_full_disk_ends_the_film(session: Session) -> None:
    collector = collector_of(session)
    expect(collector, session, 0)
    failure = jobs.failure_facts(job_of(session), OSError(28, "No space left on device"))
    FrameFiles(session.frames).write_failure(0, failure)
    with pytest.raises(VideoError) as refused:
        await collector.look()
    assert refused.value.code == "disk_full"
    collector.close()


async def test_local_work_retries_and_then_gives_up(session: Session, tmp_path: Path) -> None:
    calls: list[int] = []

    async def broken(function: Any, *told: Any) -> None:
        calls.append(told[1]["index"])
        raise ValueError("never")

    work = LocalWork(tmp_path, broken, retries=1, time_limit_seconds=1)
    await work.send(job_of(session, 5))
    for _ in range(100):
        if FrameFiles(session.frames).listing().failed:
            break
        await asyncio.sleep(0.05)
    assert calls == [5, 5] and FrameFiles(session.frames).listing().failed == {5}
    await work.close()
