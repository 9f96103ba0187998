"""Tidying: sessions that are old, or too many, are removed; one that somebody still needs never is."""

from __future__ import annotations

import shutil
import stat
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from sqlalchemy import select

from docproc.app import App
from docproc.apps.video.sessions import Session, Sessions
from docproc.apps.video.settings import VideoSettings
from docproc.engine.store.tables import Request
from docproc.http.looks import is_over

GIGABYTE = 1024**3
# What is still being sent, or has just arrived, is no request yet: whatever the limits, it stays so long.
YOUNG_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Found:
    """A session that nobody works on."""

    session: Session
    age_seconds: float
    size_bytes: int
    is_upload: bool


async def live_sessions(application: App, sessions: Sessions) -> set[UUID]:
    """Those whose request is not over."""
    ids = [session.session_id for session in sessions.all()]
    columns = (Request.id, Request.status, Request.completed_at)
    async with application.store.reading() as session:
        rows = list(await session.execute(select(*columns).where(Request.id.in_(ids))))
    return {row.id for row in rows if not is_over(row.status, row.completed_at)}


def clean(sessions: Sessions, video: VideoSettings, live: Collection[UUID]) -> list[UUID]:
    """Remove what is too old, then the oldest until the rest is small enough; says which."""
    found = [_look(session) for session in sessions.all() if session.session_id not in live]
    gone = [one for one in found if _is_too_old(one, video)]
    kept = [one for one in found if one not in gone and not one.is_upload]
    # Live ones take room, too, and stay.
    size = sum(one.size_bytes for one in kept) + _size_of(map(sessions.of, live))
    for one in sorted(kept, key=lambda each: -each.age_seconds):
        if size <= video.video_keep_gb * GIGABYTE or one.age_seconds < YOUNG_SECONDS:
            break
        gone.append(one)
        size -= one.size_bytes
    for one in gone:
        one.session.remove()
    _remove_orphans(sessions)
    return [one.session.session_id for one in gone]


def _is_too_old(one: Found, video: VideoSettings) -> bool:
    limit = video.video_resume_minutes * 60 if one.is_upload else video.video_keep_hours * 3600
    return one.age_seconds > max(limit, YOUNG_SECONDS)


def _look(session: Session) -> Found:
    """Its age counts from the last sign of life."""
    last = max((_changed(path) for path in (session.films, *session.films.glob("*"))), default=0.0)
    is_upload = session.part.exists() and not session.film.exists()
    return Found(session, time.time() - last, _size_of([session]), is_upload)


def _size_of(sessions: Iterable[Session]) -> int:
    folders = [folder for session in sessions for folder in (session.films, session.frames)]
    return sum(_size(path) for folder in folders for path in folder.rglob("*"))


def _remove_orphans(sessions: Sessions) -> None:
    """Frames of sessions that are gone, as a removal that was broken off leaves them."""
    folder = sessions.folder / "frames"
    for path in folder.iterdir() if folder.is_dir() else ():
        if not (sessions.folder / "films" / path.name).exists() and time.time() - _changed(path) > 60:
            shutil.rmtree(path, ignore_errors=True)


def _changed(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _size(path: Path) -> int:
    with suppress(OSError):
        found = path.lstat()
        return found.st_size if stat.S_ISREG(found.st_mode) else 0
    return 0
