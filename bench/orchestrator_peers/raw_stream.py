"""A stream of Redis for requests, one for replies, and nothing else; as a program, the worker."""

import asyncio
import json
import os
from typing import Any
from uuid import uuid4

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bench.orchestrator_peers import Told, url, work

REQUESTS, REPLIES, GROUP = "bench:requests", "bench:replies", "bench"


class RawStream:
    def __init__(self) -> None:
        self.redis = Redis.from_url(url())

    async def start(self, told: Told) -> None:
        self._listening = asyncio.create_task(_listen(told))

    async def submit(self, payload: Any) -> str:
        task_id = str(uuid4())
        await self.redis.xadd(REQUESTS, {"id": task_id, "body": json.dumps(payload)})
        return task_id


async def _listen(told: Told) -> None:
    redis = Redis.from_url(url(), socket_timeout=None)
    last: Any = "$"
    while True:
        for entry, fields in _entries(await redis.xread({REPLIES: last}, count=500, block=1000)):
            last = entry
            told(fields[b"id"].decode())


async def serve() -> None:
    redis = Redis.from_url(url(), socket_timeout=None)
    try:
        await redis.xgroup_create(REQUESTS, GROUP, id="0", mkstream=True)
    except ResponseError as error:
        if "BUSYGROUP" not in str(error):
            raise
    name = str(os.getpid())
    while True:
        found = _entries(await redis.xreadgroup(GROUP, name, {REQUESTS: ">"}, count=100, block=1000))
        async with redis.pipeline(transaction=False) as pipe:
            for entry, fields in found:
                done = json.dumps(work(json.loads(fields[b"body"])))
                pipe.xadd(REPLIES, {"id": fields[b"id"], "body": done}, maxlen=10_000)
                pipe.xack(REQUESTS, GROUP, entry)
                pipe.xdel(REQUESTS, entry)
            await pipe.execute()


def _entries(found: Any) -> list[Any]:
    """Of one stream, in either form that the library gives."""
    groups = found.values() if isinstance(found, dict) else [entries for _, entries in found or ()]
    flat: list[Any] = []
    for group in groups:
        for one in group:
            flat += one if isinstance(one, list) else [one]
    return flat


if __name__ == "__main__":
    asyncio.run(serve())
