"""What the preview knows of sessions, and how browsers follow one: server-sent events."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from docproc.apps.video.sessions import Session, Sessions

EVENT_SECONDS = 0.4
# A comment keeps proxies from cutting the connection off while nothing changes.
QUIET_SECONDS = 10.0
OVER = frozenset({"completed", "failed"})
LISTED = (
    "session_id", "filename", "status", "frames_processed", "frames_total", "fps", "eta_seconds",
    "frames_failed", "started_at", "updated_at",
)  # fmt: skip


def status_of(session: Session) -> dict[str, Any]:
    """As its progress says; before that, as its upload does."""
    if (known := session.said("progress")) is not None:
        return known
    said = session.said("upload") or {}
    name = str(said.get("video_info", {}).get("filename", ""))
    status = "queued" if session.film.exists() else "uploading"
    return {
        "session_id": str(session.session_id),
        "filename": name,
        "status": status,
        "frames_processed": 0,
        "frames_total": 0,
        "fps": 0.0,
        "eta_seconds": None,
    }


def listing(sessions: Sessions, most: int = 100) -> list[dict[str, Any]]:
    """Newest first, one line each."""
    found = []
    for session in sessions.all():
        known = status_of(session)
        found.append({name: known.get(name) for name in LISTED})
        if len(found) == most:
            break
    return sorted(found, key=lambda one: str(one["started_at"] or "~"), reverse=True)


def events(session: Session) -> Iterator[str]:
    """Every change, at most half a second old, until the film is over."""
    last, spoken = "", time.monotonic()
    while True:
        if not session.exists:
            yield "event: gone\ndata: {}\n\n"
            return
        known = status_of(session)
        said = json.dumps(known)
        now = time.monotonic()
        if said != last:
            yield f"event: progress\ndata: {said}\n\n"
            last, spoken = said, now
        elif now - spoken > QUIET_SECONDS:
            yield ": still here\n\n"
            spoken = now
        if known["status"] in OVER:
            yield f"event: {known['status']}\ndata: {said}\n\n"
            return
        time.sleep(EVENT_SECONDS)
