"""Celery on Redis, acknowledged late; the front hears of results by what the backend publishes."""

import asyncio
from typing import Any

from celery import Celery
from redis.asyncio import Redis

from bench.orchestrator_peers import Told, url, work

PREFIX = b"celery-task-meta-"

app = Celery("bench_orchestrator", broker=url(), backend=url())
app.conf.update(
    task_acks_late=True,
    worker_prefetch_multiplier=64,
    worker_enable_remote_control=False,
    worker_disable_rate_limits=True,
)
app.task(name="work")(work)


class CeleryRedis:
    async def start(self, told: Told) -> None:
        news = Redis.from_url(url()).pubsub(ignore_subscribe_messages=True)
        await news.psubscribe(PREFIX + b"*")
        self._listening = asyncio.create_task(_listen(news, told))

    async def submit(self, payload: Any) -> str:
        # In the loop: it takes a third of a millisecond, a thread would take longer.
        return str(app.send_task("work", (payload,)).id)


async def _listen(news: Any, told: Told) -> None:
    while True:
        message = await news.get_message(timeout=4)
        if message is not None:
            told(message["channel"][len(PREFIX) :].decode())
