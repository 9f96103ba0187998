"""CeleryWork: frames are filtered by Celery workers anywhere, told over Redis."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import redis
import structlog
from celery import Celery
from kombu.exceptions import OperationalError

from docproc.apps.video.frames.job import Job
from docproc.apps.video.work.tasks import QUEUE, TASK
from docproc.apps.video.work.work import FrameWork
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

PAUSE_SECONDS = 1.0
# A frame that neither came nor waits in the queue is taken for lost when Celery had the time to find that its
# worker died, and so much more.
MORE_SECONDS = 15.0


class CeleryWork(FrameWork):
    """Redis may be away, or come back empty: the film waits, and hands its frames over again."""

    def __init__(self, app: Celery, client: redis.Redis, visibility_seconds: float) -> None:
        self.app = app
        self.client = client
        self.lost_seconds = visibility_seconds + MORE_SECONDS
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="celery")  # its connections belong to one
        self._ids: dict[int, str] = {}
        # When it was handed over, or last seen in the queue.
        self._seen: dict[int, float] = {}
        self._server: str | None = None
        self._warned = False

    async def send(self, job: Job) -> None:
        self._ids[job.index] = task_id = str(uuid4())
        while True:
            try:
                await self._in_thread(self._publish, job, task_id)
                self._seen[job.index] = time.monotonic()
                return
            except (OperationalError, redis.RedisError, OSError) as error:
                log.warning("frame_not_sent", frame=job.index, problem=text_for_logs(error))
            await asyncio.sleep(PAUSE_SECONDS)

    def _publish(self, job: Job, task_id: str) -> None:
        if self._server is None:  # before anything can be lost with it
            self._server = self._look()[0]
        said = job.model_dump(mode="json")
        self.app.send_task(TASK, args=[said], task_id=task_id, queue=QUEUE, retry=False)

    async def send_lost(self, waiting: Mapping[int, Job]) -> Sequence[int]:
        if not waiting:
            return ()
        try:
            server, queued = await self._in_thread(self._look)
        except (redis.RedisError, OSError) as error:
            log.warning("redis_away", problem=text_for_logs(error))
            return ()
        came_back = self._server is not None and server != self._server
        self._server = server
        now = time.monotonic()
        lost = []
        for index, job in waiting.items():
            if self._ids.get(index) in queued:
                self._seen[index] = now
            elif came_back or now - self._seen.get(index, now) > self.lost_seconds:
                lost.append(job)
        for job in lost:
            await self.send(job)
        if lost:
            log.warning("frames_sent_again", frames=len(lost), redis_restarted=came_back)
        return [job.index for job in lost]

    def _look(self) -> tuple[str, set[str]]:
        """Which Redis process this is, and the tasks that nobody took yet."""
        found: Any = self.client.info()
        self._check_policy(found)
        messages: Any = self.client.lrange(QUEUE, 0, -1)
        return str(found["run_id"]), {json.loads(one)["headers"]["id"] for one in messages}

    def _check_policy(self, found: Mapping[str, Any]) -> None:
        """A broker that throws tasks away when its memory is full is told of, once."""
        policy = found.get("maxmemory_policy", "noeviction")
        if policy != "noeviction" and int(found.get("maxmemory", 0)) and not self._warned:
            self._warned = True
            log.warning("redis_may_evict", policy=policy, remedy="set maxmemory-policy noeviction")

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
