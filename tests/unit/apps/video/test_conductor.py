"""The conductor of a film, with workers that do what a test wants."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from docproc.apps.video.conductor import Conductor, Order
from docproc.apps.video.errors import VideoError
from docproc.apps.video.filters.chain import requested
from docproc.apps.video.frames import job as jobs
from docproc.apps.video.frames.files import FrameFiles
from docproc.apps.video.frames.job import Job
from docproc.apps.video.progress import Progress
from docproc.apps.video.sessions import Session, Sessions
from docproc.apps.video.settings import VideoSettings
from docproc.apps.video.work.work import FrameWork
from tests.films import Look, decoded, draw, number_of

FRAMES = 40
QUICK = VideoSettings(video_frames_in_flight=8, video_poll_seconds=0.01)

# Does something with a frame that was handed over.
Do = Callable[[Job], None]


class Worker(FrameWork):
    """Takes frames in a random order, one at a time."""

    def __init__(self, do: Do) -> None:
        self.do = do
        self.sent: list[int] = []
        self._jobs: list[Job] = []
        self._task = asyncio.create_task(self._work())

    async def send(self, job: Job) -> None:
        self.sent.append(job.index)
        self._jobs.append(job)

    async def _work(self) -> None:
        chance = random.Random(3)
        while True:
            if self._jobs:
                job = self._jobs.pop(chance.randrange(len(self._jobs)))
                await asyncio.to_thread(self.do, job)
            await asyncio.sleep(0.002)

    async def close(self) -> None:
        self._task.cancel()


@pytest.fixture
def session(tmp_path: Path) -> Session:
    made = Sessions(tmp_path).of(uuid4())
    made.make()
    draw(tmp_path / "film.mp4", Look(frames=FRAMES))
    (tmp_path / "film.mp4").rename(made.film)
    return made


async def offload(function: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(function, *arguments)


async def conduct(session: Session, worker: Worker, video: VideoSettings = QUICK) -> dict[str, Any]:
    async def report(progress: Progress) -> None:
        session.say("progress", progress.snapshot())

    order = Order(requested("grayscale", [], 8), "h264", "film.mp4")
    return await Conductor(session, order, worker, video, offload, report).run()


async def test_order_of_the_workers_changes_nothing(session: Session, tmp_path: Path) -> None:
    worker = Worker(lambda job: _done(jobs.do(tmp_path, job, 4, "w")))
    metrics = await conduct(session, worker)
    assert (metrics["total_frames"], metrics["workers"]) == (FRAMES, {"w": FRAMES})
    assert [number_of(image) for _, image in decoded(session.output)] == list(range(FRAMES))
    told = session.said("progress")
    assert told and (told["status"], told["frames_processed"], told["eta_seconds"]) == (
        "completed",
        FRAMES,
        0,
    )


async def test_film_that_was_begun_goes_on(session: Session, tmp_path: Path) -> None:
    stopped = Worker(lambda job: _done(jobs.do(tmp_path, job, 4, "first")) if job.index < 15 else None)
    film = asyncio.create_task(conduct(session, stopped))
    files = FrameFiles(session.frames)
    while len(files.listing().ready) < 15:
        await asyncio.sleep(0.02)
    film.cancel()
    with pytest.raises(asyncio.CancelledError):
        await film
    assert not session.output.exists()
    second = Worker(lambda job: _done(jobs.do(tmp_path, job, 4, "second")))
    metrics = await conduct(session, second)
    assert second.sent == list(range(15, FRAMES)) and metrics["workers"] == {
        "first": 15,
        "second": FRAMES - 15,
    }
    assert [number_of(image) for _, image in decoded(session.output)] == list(range(FRAMES))


async def test_frames_nobody_wants_to_keep_are_removed(session: Session, tmp_path: Path) -> None:
    most: list[int] = []

    def do(job: Job) -> None:
        jobs.do(tmp_path, job, 4)
        most.append(len(FrameFiles(session.frames).listing().ready))

    await conduct(session, Worker(do), QUICK.model_copy(update={"video_keep_frames": False}))
    assert max(most) <= 8 and not list(session.frames.iterdir())


async def test_full_disk_is_told_as_such(session: Session, tmp_path: Path) -> None:
    worker = Worker(lambda job: jobs.give_up(tmp_path, job, OSError(28, "No space left on device")))
    with pytest.raises(VideoError) as refused:
        await conduct(session, worker)
    assert refused.value.code == "disk_full" and not session.output.exists()


async def test_mistake_of_a_worker_is_raised_as_it_is(session: Session) -> None:
    class Broken(Worker):
        async def send(self, job: Job) -> None:
            raise ZeroDivisionError("a mistake")

    with pytest.raises(ZeroDivisionError):
        await conduct(session, Broken(lambda job: None))


def _done(_: bool) -> None:
    """What was done lies on disk."""
