"""taskiq on a Redis stream; results are waited for as taskiq does, by looking."""

from __future__ import annotations

import asyncio
from typing import Any

from taskiq_redis import RedisAsyncResultBackend, RedisStreamBroker

from bench.orchestrator_peers import Told, url, work

LOOK_SECONDS = 0.01

_results: Any = RedisAsyncResultBackend(url(), result_ex_time=600)
broker = RedisStreamBroker(url(), consumer_id="0").with_result_backend(_results)


@broker.task(task_name="work")
async def do_work(payload: Any) -> Any:
    return work(payload)


class TaskiqRedis:
    def __init__(self) -> None:
        self._waiting: set[asyncio.Task[None]] = set()

    async def start(self, told: Told) -> None:
        self.told = told
        await broker.startup()

    async def submit(self, payload: Any) -> str:
        task = await do_work.kiq(payload)
        waiting = asyncio.create_task(self._wait(task))
        self._waiting.add(waiting)
        waiting.add_done_callback(self._waiting.discard)
        return str(task.task_id)

    async def _wait(self, task: Any) -> None:
        await task.wait_result(check_interval=LOOK_SECONDS, timeout=60)
        self.told(task.task_id)
