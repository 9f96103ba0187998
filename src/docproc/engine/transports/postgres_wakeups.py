"""Wake-ups between processes on PostgreSQL: NOTIFY."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

import asyncpg
import structlog
from sqlalchemy.engine import URL

from docproc.engine.transports.wakeups import Wakeups, Woken

log = structlog.get_logger(__name__)

CHANNEL = "docproc_wake"


class PostgresWakeups(Wakeups):
    """LISTEN/NOTIFY on one connection of its own, outside any transaction.

    NOTIFY inside the sender's transaction would serialise all commits behind one lock.
    """

    def __init__(self, url: URL) -> None:
        self.dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._connection: asyncpg.Connection | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._lost = asyncio.Event()
        self._lock = asyncio.Lock()

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
                        "SELECT pg_notify($1, name) FROM unnest($2::text[]) AS name", CHANNEL, list(names)
                    )

    async def _connect(self) -> None:
        self._lost.clear()
        connection = await asyncpg.connect(self.dsn, timeout=10, command_timeout=10)
        connection.add_termination_listener(lambda _: self._lost.set())
        await connection.add_listener(CHANNEL, lambda _c, _p, _ch, name: self._woken(str(name)))
        self._connection = connection

    async def _keep_connected(self) -> None:
        wait = 0.1
        while True:
            await self._lost.wait()
            try:
                await self._connect()
                wait = 0.1
                self._woken("*")  # whatever was missed meanwhile
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
                log.warning("wakeups_reconnecting", error=str(error).splitlines()[0] if str(error) else "")
                self._lost.set()
                await asyncio.sleep(wait)
                wait = min(wait * 2, 2.0)
