"""Where a film's progress is written: its own file, and Redis where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import redis
import structlog

from docproc.apps.video.progress import Progress
from docproc.apps.video.sessions import Session
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

# Redis: hash PREFIX:ID with the numbers, set PREFIXs with the ids.
KEY = "docproc:video:session:{id}"
SESSIONS = "docproc:video:sessions"
KEPT_SECONDS = 24 * 3600
IN_REDIS = ("status", "frames_processed", "frames_total", "fps", "eta_seconds", "frames_failed", "updated_at")

Report = Callable[[Progress], Awaitable[None]]


def reporter(session: Session, client: redis.Redis | None) -> Report:
    """What a conductor calls a few times a second. Redis may be away: the file says the same."""
    away = False

    async def report(progress: Progress) -> None:
        nonlocal away
        snapshot = progress.snapshot()
        session.say("progress", snapshot)
        if client is None:
            return
        try:
            await asyncio.to_thread(_write, client, snapshot)
            away = False
        except (redis.RedisError, OSError) as error:
            if not away:
                log.warning("progress_not_in_redis", problem=text_for_logs(error))
            away = True

    return report


def _write(client: redis.Redis, snapshot: dict[str, Any]) -> None:
    key = KEY.format(id=snapshot["session_id"])
    numbers = {name: "" if snapshot[name] is None else str(snapshot[name]) for name in IN_REDIS}
    with client.pipeline(transaction=False) as pipe:
        pipe.hset(key, mapping=numbers)  # type: ignore[arg-type] # texts are what it takes
        pipe.expire(key, KEPT_SECONDS)
        pipe.sadd(SESSIONS, snapshot["session_id"])
        pipe.expire(SESSIONS, KEPT_SECONDS)
        pipe.execute()
