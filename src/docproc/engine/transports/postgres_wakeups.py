"""Wake-ups between processes on PostgreSQL: NOTIFY, or looking often where a pooler swallows that."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable

import asyncpg
import structlog
from sqlalchemy.engine import URL

from docproc.engine.store.postgresql import POOLED, is_pooled
from docproc.engine.transports.wakeups import Wakeups, Woken

log = structlog.get_logger(__name__)

CHANNEL = "docproc_wake"
# How often one statement looks for news of all queues where nobody can be told of them.
LOOK_SECONDS = 0.1

_SEND = "SELECT pg_notify($1, name) FROM unnest($2::text[]) AS name"
_LOOK = """
    SELECT name FROM unnest($1::text[]) AS name
    WHERE EXISTS (SELECT FROM messages WHERE queue = name AND state = 'ready')
"""


class PostgresWakeups(Wakeups):
    """LISTEN/NOTIFY on one connection of its own, outside any transaction.

    NOTIFY inside the sender's transaction would serialise all commits behind one lock. A pooler gives the
    session that listens to others: then this process looks into its queues instead, and still notifies those
    that reach the server itself.
    """

    def __init__(self, url: URL, queues: Callable[[], Collection[str]]) -> None:
        """`queues` are those that this process consumes at the time."""
        self.dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self.queues = queues
        self._connection: asyncpg.Connection | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._lost = asyncio.Event()
        self._lock = asyncio.Lock()
        self._looks = False

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and not self._connection.is_closed()

    async def open(self, woken: Woken) -> None:
        self._woken = woken
        await self._connect()
        self._keeper = asyncio.create_task(self._keep_connected(), name="wakeups")

    async def close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        if self._connection is not None and not self._connection.is_closed():
            await self._connection.close(timeout=2)

    async def send(self, names: Iterable[str]) -> None:
        # A connection runs one statement at a time; a lost one is the keeper's business.
        async with self._lock:
            if self.is_connected:
                with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                    await self._connection.execute(  # type: ignore[union-attr] # is_connected says it is there
                        _SEND, CHANNEL, list(names)
                    )

    async def _connect(self) -> None:
        if self._connection is not None:
            self._connection.terminate()  # it may only have failed to answer
            self._connection = None
        self._lost.clear()
        connection = await asyncpg.connect(self.dsn, timeout=10, command_timeout=10)
        self._looks = await is_pooled(connection)
        if self._looks:
            await connection.close(timeout=2)
            connection = await asyncpg.connect(self.dsn, timeout=10, command_timeout=10, **POOLED)
            log.info("wakeups_by_looking", remedy="for shorter hops give workers the server's own address")
        else:
            await connection.add_listener(CHANNEL, lambda _c, _p, _ch, name: self._woken(str(name)))
        connection.add_termination_listener(self._lose)
        self._connection = connection

    def _lose(self, connection: object) -> None:
        if connection is self._connection:  # not an old one, whose end is known
            self._lost.set()

    async def _keep_connected(self) -> None:
        wait = 0.1
        while True:
            try:
                await self._until_lost()
                await self._connect()
                wait = 0.1
                self._woken("*")  # whatever was missed meanwhile
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
                log.warning("wakeups_reconnecting", error=str(error).splitlines()[0] if str(error) else "")
                self._lost.set()
                await asyncio.sleep(wait)
                wait = min(wait * 2, 2.0)

    async def _until_lost(self) -> None:
        while self._looks and not self._lost.is_set():
            await self._look()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._lost.wait(), LOOK_SECONDS)
        await self._lost.wait()

    async def _look(self) -> None:
        queues = list(self.queues())
        if not queues or self._connection is None:
            return
        async with self._lock:
            found = await self._connection.fetch(_LOOK, queues)
        for row in found:
            self._woken(row["name"])
