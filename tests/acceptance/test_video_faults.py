"""What happens to films when workers die, Redis is lost, disks are full and filters fail (D11, D16, D20)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from bench.video_deployment import PrivateRedis, Running, VideoDeployment, redis_problem, until
from docproc.http.callbacks.secret import FILE
from tests import misbehaving, services
from tests.films import Look, decoded, draw, number_of
from tests.receiver import receiving

pytestmark = [pytest.mark.xdist_group("video faults"), pytest.mark.timeout(170)]

# As short as CI has time for; the real ones are measured by bench/video.py.
SHORT = {"VIDEO_FRAME_SECONDS": 2, "VIDEO_VISIBILITY_SECONDS": 4, "VIDEO_RATE_LIMIT": 0}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[PrivateRedis]:
    services.require(redis_problem())
    server = PrivateRedis(tmp_path)
    server.start()
    yield server
    server.kill()


@contextlib.contextmanager
def deployed(folder: Path, redis_url: str | None = None, **settings: object) -> Iterator[VideoDeployment]:
    misbehaving.install(folder / "plugins")
    place = VideoDeployment(folder, redis_url, **{**SHORT, **settings})
    try:
        yield place
    finally:
        place.close()


def film_of(folder: Path, frames: int) -> Path:
    draw(folder / "film.mp4", Look(frames=frames))
    return folder / "film.mp4"


def numbers(path: Path) -> list[int]:
    """Of the frames, which filters that worked have turned into their negative."""
    return [number_of(255 - image) for _, image in decoded(path)]


def _busy(place: VideoDeployment, session_id: str, frames: int) -> None:
    until(lambda: place.progress(session_id)["frames_processed"] >= frames, f"{frames} frames are done")


def test_frames_of_a_killed_worker_are_filtered_by_another(tmp_path: Path, broker: PrivateRedis) -> None:
    """Celery's own redelivery; no frame is replaced by its original."""
    film = film_of(tmp_path, 30)
    with deployed(tmp_path, broker.url) as place:
        doomed, _ = place.worker(2, "doomed"), place.server()
        client = place.sending(film, "--processing", "slow", "--filter", "slow:seconds=0.15")
        session_id = place.new_session()
        _busy(place, session_id, 5)
        doomed.kill()
        other = place.worker(2, "other")
        made = place.made(client)
        assert made["frames_failed"] == 0 and made["total_frames"] == 30, other.said()[-2000:]
        assert made["retries"] >= 1, "frames were begun by the one that died"
        assert numbers(tmp_path / "out.mp4") == list(range(30))


def test_pending_frames_are_sent_again_to_a_redis_that_came_back_empty(
    tmp_path: Path, broker: PrivateRedis
) -> None:
    film = film_of(tmp_path, 40)
    with deployed(tmp_path, broker.url) as place:
        place.worker(2)
        place.server()
        client = place.sending(film, "--processing", "slow", "--filter", "slow:seconds=0.1")
        session_id = place.new_session()
        _busy(place, session_id, 5)
        broker.restart_empty()
        made = place.made(client)
        assert made["frames_failed"] == 0 and made["frames_resent"] > 0
        assert numbers(tmp_path / "out.mp4") == list(range(40))


def test_frames_that_cannot_be_filtered_are_originals_at_once_and_listed(
    tmp_path: Path, broker: PrivateRedis
) -> None:
    """One whose filter raises, one that kills its process, one that never ends: each after three retries."""
    film = film_of(tmp_path, 12)
    with deployed(tmp_path, broker.url, VIDEO_FRAME_SECONDS=1.5, VIDEO_VISIBILITY_SECONDS=12) as place:
        place.worker(2)
        place.server()
        started = time.monotonic()
        made = place.send(film, "--processing", "faulty")
        assert time.monotonic() - started < 60, "far from the five minutes of a frame that never comes"
    assert made["frames_failed"] == 3
    assert [one["frame"] for one in made["fallback_frames"]] == [3, 5, 7]
    assert made["fallback_frames"][0]["reason"] == "ValueError"
    images = [image for _, image in decoded(tmp_path / "out.mp4")]
    assert [number_of(images[index]) for index in (3, 5, 7)] == [3, 5, 7]
    assert [number_of(255 - images[index]) for index in (0, 4, 11)] == [0, 4, 11]


def test_without_workers_the_originals_serve_after_the_time_limit(
    tmp_path: Path, broker: PrivateRedis
) -> None:
    film = film_of(tmp_path, 6)
    with deployed(tmp_path, broker.url, VIDEO_FRAME_TIMEOUT_SECONDS=2) as place:
        place.server()
        made = place.send(film, "--processing", "edges")
        assert made["frames_failed"] == 6 and made["fallback_frames"][0]["reason"] == "timed out"
        assert [number_of(image) for _, image in decoded(tmp_path / "out.mp4")] == list(range(6))


def test_rate_limit_holds_and_stalls_nothing(tmp_path: Path, broker: PrivateRedis) -> None:
    """Celery's own timers would let one frame a second through, with two processes behind one limit."""
    film = film_of(tmp_path, 120)
    with deployed(tmp_path, broker.url, VIDEO_RATE_LIMIT=64) as place:
        place.worker(2)
        place.server()
        made = place.send(film, "--processing", "grayscale")
        assert made["worker_count"] == 2 and made["frames_failed"] == 0
        assert 10 < made["fps_processing"] < 70


def test_film_survives_the_servers_death(tmp_path: Path, broker: PrivateRedis) -> None:
    """Another server goes on with the frames that are there, and the client with its session."""
    film = film_of(tmp_path, 60)
    with deployed(tmp_path, broker.url) as place:
        place.worker(2)
        server = place.server()
        told = ["--processing", "slow", "--filter", "slow:seconds=0.1"]
        patient = place.sending(film, *told)
        session_id = place.new_session()
        _busy(place, session_id, 5)
        again = [*told, "--session", session_id, "--patience", "0"]
        impatient = place.sending(film, *again, out=tmp_path / "never.mp4")
        assert impatient.stderr and session_id in impatient.stderr.readline(), "it follows the film, too"
        server.kill()
        _, err = impatient.communicate(timeout=30)
        assert impatient.returncode == 1 and "the server went away" in err and session_id in err
        done = {path.name: path.stat().st_mtime_ns for path in place.frames(session_id).glob("*.png")}
        place.server()
        made = place.made(patient)
        assert made["frames_failed"] == 0 and made["total_frames"] == 60
        assert numbers(tmp_path / "out.mp4") == list(range(60))
        kept = {name: (place.frames(session_id) / name).stat().st_mtime_ns for name in done}
        assert kept == done, "what was filtered before is not filtered again"


async def test_answer_at_the_deadline_is_partial_and_names_the_frames(tmp_path: Path) -> None:
    """Without Redis and without an API: the server's own children filter, and it sends the answers itself."""
    film = film_of(tmp_path, 40)
    flows = tmp_path / "flows"
    flows.mkdir()
    flow = "name: video\nsla: {deadline_seconds: 3}\nstages:\n  - {name: film, component: film}\n"
    (flows / "video.yaml").write_text(flow)
    async with receiving() as receiver:
        with deployed(tmp_path, WORKFLOWS_DIR=flows, CALLBACK_ALLOW_PRIVATE="true") as place:
            await asyncio.to_thread(place.server)
            told = ["--processing", "slow", "--filter", "slow:seconds=0.25", "--callback-url", receiver.url]
            client = place.sending(film, *told)
            made = await asyncio.to_thread(place.made, client)
            assert made["total_frames"] == 40 and made["frames_failed"] == 0
            await asyncio.to_thread(until, lambda: len(receiver.received) == 2, "both answers are sent")
            secret = (tmp_path / "home" / FILE).read_text().strip()
    for one in receiver.received:
        Webhook(secret).verify(one.body, one.headers)
    partial, whole = (one.said for one in receiver.received)
    assert (partial["answer_version"], partial["partial"]) == (1, True)
    assert partial["result"]["metrics"]["frames_total"] == 40
    assert {one["reason"] for one in partial["result"]["missing"]} == {"queued"}
    assert partial["result"]["missing"][-1]["unit"].endswith("-39")
    assert whole["result"]["partial"] is False and whole["result"]["missing"] == []
    assert whole["result"]["metrics"]["total_frames"] == 40


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 6 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        services.require(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_full_disk_ends_in_an_error(tmp_path: Path, small_disk: Path, broker: PrivateRedis) -> None:
    """Seen at once where the frames cannot fit, while they are written, and while a film arrives."""
    film = film_of(tmp_path, 60)
    with deployed(tmp_path, broker.url, VIDEO_DATA=small_disk, VIDEO_FRAME_RETRIES=1) as place:
        worker, server = place.worker(2), place.server()
        _refused(place, film, "the disk has no room for the film's frames")
        (small_disk / "filler").write_bytes(b"\0" * (5 << 20))
        short = tmp_path / "short.mp4"
        draw(short, Look(frames=3))
        before = place.sessions()
        client = place.sending(short, "--processing", "slow", "--filter", "slow:seconds=1")
        session_id = place.new_session(before)
        until(lambda: list((place.films(session_id) / "originals").glob("*.bmp")), "frames are under way")
        with contextlib.suppress(OSError):
            (small_disk / "more").write_bytes(b"\0" * (2 << 20))
        out, err = client.communicate(timeout=60)
        assert client.returncode == 1 and "error: disk_full: " in err, (out, err, worker.said()[-1500:])
        big = tmp_path / "big.mp4"
        big.write_bytes(os.urandom(3 << 20))
        _refused(place, big, "the disk is full")
        (small_disk / "filler").unlink()
        (small_disk / "more").unlink()
        _alive(server)
        assert place.send(short)["total_frames"] == 3, "it goes on where there is room again"


def _refused(place: VideoDeployment, film: Path, said: str) -> None:
    client = place.sending(film)
    _, err = client.communicate(timeout=60)
    assert client.returncode == 1 and f"error: disk_full: {said}" in err, err


def _alive(server: Running) -> None:
    assert server.process.poll() is None, server.said()


def test_cancelled_request_ends_its_film(tmp_path: Path) -> None:
    film = film_of(tmp_path, 60)
    with deployed(tmp_path) as place:
        place.server()
        client = place.sending(film, "--processing", "slow", "--filter", "slow:seconds=0.5")
        session_id = place.new_session()
        _busy(place, session_id, 1)
        place.start("request", "erase", session_id).process.wait(30)
        out, err = client.communicate(timeout=30)
        assert client.returncode == 1 and "error: cancelled: " in err, (out, err)
        until(lambda: not place.films(session_id).exists(), "nothing of it is left")
