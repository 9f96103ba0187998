"""A client that submits tasks over HTTP and hears of their ends over a WebSocket, as little of one as can be:
it runs on the machine that it measures."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import websockets

# From a reply of POST to the id that its completion event will name, and from an event to that id (None: an
# event of another kind).
IdOf = Callable[[Mapping[str, Any]], str | None]


class Connection:
    """One HTTP/1.1 connection that is kept open; one call at a time."""

    def __init__(self, host: str, port: int, headers: Mapping[str, str] | None = None) -> None:
        self.host = host
        self.port = port
        self._more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        if self._streams is None or self._streams[0].at_eof():  # a server ends connections that lie idle
            self._streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self._streams
        head = f"POST {path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}{self._more}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        status = int(answer[9:12])
        length = 0
        for line in answer.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return status, await reader.readexactly(length)

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            with contextlib.suppress(OSError):
                await self._streams[1].wait_closed()


@dataclass
class Target:
    """Where tasks go and where their ends are told."""

    host: str
    port: int
    path: str
    events_url: str
    task_id: IdOf
    ended_id: IdOf
    headers: Mapping[str, str] = field(default_factory=dict)
    # The type of the event after which nothing is missed; None: as soon as the connection stands.
    ready: str | None = None


@dataclass
class Measured:
    """Seconds: of every accepted POST, and from the beginning of it to the task's completion event."""

    accepted: list[float] = field(default_factory=list)
    completed: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def per_second(self) -> float:
        return len(self.completed) / self.seconds if self.seconds else 0.0

    def row(self) -> dict[str, float]:
        return {
            "tasks_per_s": self.per_second,
            "accept_p50_ms": 1000 * quantile(self.accepted, 0.5),
            "accept_p99_ms": 1000 * quantile(self.accepted, 0.99),
            "completion_p50_ms": 1000 * quantile(self.completed, 0.5),
            "completion_p99_ms": 1000 * quantile(self.completed, 0.99),
        }


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


class Client:
    """Follows one WebSocket and submits over some connections."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._ended: dict[str, float] = {}
        self._waiting: dict[str, asyncio.Future[float]] = {}
        self._listener: asyncio.Task[None] | None = None
        self._free: list[Connection] = []

    async def open(self) -> None:
        ready = asyncio.Event()
        self._listener = asyncio.create_task(self._listen(ready))
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({waiting, self._listener}, return_when=asyncio.FIRST_COMPLETED, timeout=20)
        if self._listener.done():
            self._listener.result()
        if not ready.is_set():
            raise TimeoutError("no WebSocket within 20 s")

    async def close(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
        for connection in self._free:
            await connection.close()

    async def _listen(self, ready: asyncio.Event) -> None:
        async with websockets.connect(
            self.target.events_url, additional_headers=dict(self.target.headers), max_size=None
        ) as socket:
            if self.target.ready is None:
                ready.set()
            async for text in socket:
                now = time.perf_counter()
                event = json.loads(text)
                if event.get("type") == self.target.ready:
                    ready.set()
                task_id = self.target.ended_id(event)
                if task_id is None:
                    continue
                if (waiting := self._waiting.pop(task_id, None)) is not None:
                    waiting.set_result(now)
                else:
                    self._ended[task_id] = now

    async def submit(self, body: bytes, measured: Measured) -> str:
        """Until it is accepted."""
        connection = self._free.pop() if self._free else self._connection()
        began = time.perf_counter()
        status, answer = await connection.post(self.target.path, body)
        took = time.perf_counter() - began
        self._free.append(connection)
        if status not in (200, 201, 202):
            raise RuntimeError(f"{status}: {answer[:500]!r}")
        measured.accepted.append(took)
        task_id = self.target.task_id(json.loads(answer))
        if task_id is None:
            raise RuntimeError(f"no id in {answer[:500]!r}")
        return task_id

    async def ended(self, task_id: str) -> float:
        """When (`time.perf_counter`) its completion event came."""
        if task_id in self._ended:
            return self._ended.pop(task_id)
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[task_id] = waiting
        return await asyncio.wait_for(waiting, 60)

    async def one(self, body: bytes, measured: Measured) -> None:
        began = time.perf_counter()
        task_id = await self.submit(body, measured)
        measured.completed.append(await self.ended(task_id) - began)

    def _connection(self) -> Connection:
        return Connection(self.target.host, self.target.port, self.target.headers)


async def flood(client: Client, body: Callable[[], bytes], tasks: int, at_once: int) -> Measured:
    """So many tasks, so many of them under way at any moment: what the system can do."""
    measured = Measured()
    left = iter(range(tasks))
    began = time.perf_counter()

    async def worker() -> None:
        for _ in left:
            await client.one(body(), measured)

    await asyncio.gather(*(worker() for _ in range(at_once)))
    measured.seconds = time.perf_counter() - began
    return measured


async def pace(client: Client, body: Callable[[], bytes], per_second: float, seconds: float) -> Measured:
    """So many a second, whether or not the earlier ones are done."""
    measured = Measured()
    began = time.perf_counter()
    running: list[asyncio.Task[None]] = []
    for number in range(int(per_second * seconds)):
        await asyncio.sleep(max(0.0, began + number / per_second - time.perf_counter()))
        running.append(asyncio.create_task(client.one(body(), measured)))
    await asyncio.gather(*running)
    measured.seconds = time.perf_counter() - began
    return measured
