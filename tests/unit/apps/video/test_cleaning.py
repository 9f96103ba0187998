"""Old sessions go, live ones stay, whatever room they take."""

from __future__ import annotations

import os
import time
from pathlib import Path
from uuid import uuid4

import pytest

from docproc.apps.video.cleaning import clean
from docproc.apps.video.errors import VideoError
from docproc.apps.video.room import check_room
from docproc.apps.video.sessions import Session, Sessions
from docproc.apps.video.settings import VideoSettings

HOUR = 3600.0


def made(sessions: Sessions, hours: float, *, size: int = 1000, is_upload: bool = False) -> Session:
    session = sessions.of(uuid4())
    session.make()
    (session.part if is_upload else session.film).write_bytes(b"x" * size)
    (session.frames / "frame_000000.png").write_bytes(b"x")
    for path in (session.films, *session.films.iterdir()):
        os.utime(path, (time.time() - hours * HOUR,) * 2)
    return session


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    found = Sessions(tmp_path)
    found.prepare()
    return found


def test_old_sessions_are_removed_and_live_ones_stay(sessions: Sessions) -> None:
    old, new, live = made(sessions, 30), made(sessions, 1), made(sessions, 300)
    gone = clean(sessions, VideoSettings(video_keep_hours=24), {live.session_id})
    assert gone == [old.session_id]
    assert not old.films.exists() and not old.frames.exists()
    assert new.film.exists() and live.film.exists()


def test_oldest_go_first_when_room_is_short(sessions: Sessions) -> None:
    several = [made(sessions, hours, size=10_000) for hours in (4, 3, 2, 1)]
    live = made(sessions, 9, size=10_000)
    gone = clean(sessions, VideoSettings(video_keep_gb=35_000 / 1024**3), {live.session_id})
    assert gone == [one.session_id for one in several[:2]] and live.film.exists()


def test_upload_is_kept_as_long_as_it_can_be_resumed(sessions: Sessions) -> None:
    resumable, forgotten = made(sessions, 0.5, is_upload=True), made(sessions, 2, is_upload=True)
    assert clean(sessions, VideoSettings(video_resume_minutes=60), set()) == [forgotten.session_id]
    assert resumable.part.exists()


def test_film_that_is_arriving_stays_whatever_the_limits_are(sessions: Sessions) -> None:
    arriving, arrived, old = made(sessions, 0, is_upload=True), made(sessions, 0), made(sessions, 1)
    video = VideoSettings(video_keep_hours=0, video_keep_gb=0, video_resume_minutes=0)
    assert clean(sessions, video, set()) == [old.session_id]
    assert arriving.part.exists() and arrived.film.exists()


def test_frames_without_a_session_are_removed(sessions: Sessions) -> None:
    orphan = sessions.of(uuid4())
    orphan.frames.mkdir(parents=True)
    os.utime(orphan.frames, (time.time() - HOUR,) * 2)
    clean(sessions, VideoSettings(), set())
    assert not orphan.frames.exists()


@pytest.mark.parametrize("said", ["", "..", "../../etc/passwd", "a" * 300, "x\0y"])
def test_only_ids_name_sessions(said: str, sessions: Sessions) -> None:
    assert sessions.find(said) is None


def test_room_is_asked_for_before_the_work(tmp_path: Path) -> None:
    check_room(tmp_path, 10, (320, 180))
    with pytest.raises(VideoError) as refused:
        check_room(tmp_path, 10**9, (3840, 2160))
    assert refused.value.code == "disk_full" and refused.value.remedy
