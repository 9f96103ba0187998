"""The front of every peer: `python -m bench.orchestrator_peers.front NAME PORT`."""

import asyncio
import contextlib
import importlib
import sys
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from fastapi import FastAPI, WebSocket, WebSocketDisconnect

from bench.orchestrator_peers import Peer

CLASSES = {
    "raw": "raw_stream:RawStream",
    "celery": "celery_redis:CeleryRedis",
    "taskiq": "taskiq_redis:TaskiqRedis",
}


def make(name: str) -> FastAPI:
    module, _, kind = CLASSES[name].partition(":")
    peer: Peer = getattr(importlib.import_module(f"bench.orchestrator_peers.{module}"), kind)()
    sockets: set[asyncio.Queue[str]] = set()

    def told(task_id: str) -> None:
        for queue in sockets:
            queue.put_nowait(task_id)

    @contextlib.asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        await peer.start(told)
        yield

    app = FastAPI(lifespan=life)

    @app.post("/tasks", status_code=202)
    async def submit(body: dict[str, Any]) -> dict[str, str]:
        return {"id": await peer.submit(body)}

    @app.websocket("/ws")
    async def events(socket: WebSocket) -> None:
        await socket.accept()
        queue: asyncio.Queue[str] = asyncio.Queue()
        sockets.add(queue)
        try:
            while True:
                await socket.send_json({"completed": await queue.get()})
        except WebSocketDisconnect:
            pass
        finally:
            sockets.discard(queue)

    return app


if __name__ == "__main__":
    uvicorn.run(make(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
