"""Store: the database, and the kinds of session the engine opens on it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar

import structlog
from sqlalchemy import Connection, event, text
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from docproc.engine import disk
from docproc.engine.store.sqlite import one_call_a_statement
from docproc.errors import ConfigurationError, CutOffError, DatabaseDownError, SilentTransactionError
from docproc.private import private_file, private_files, private_folder

T = TypeVar("T")

log = structlog.get_logger(__name__)

LONG_WRITE_SECONDS = 0.25
# How long a statement waits for another process to let SQLite go.
_WAIT_SECONDS = 60
# And how long whoever hurries sleeps at most before it looks again.
_NAP_MS = 25
_NAPS = "docproc_naps"
_FORGET_TRIES, _FORGET_MS = 5, 200
# Execution option of SQLite's writer: whether a commit waits for the disk.
_DURABLE = "docproc_durable"
_IMMEDIATE = "BEGIN IMMEDIATE"
# PostgreSQL ends a transaction whose process says nothing for so long: one that was stopped (SIGSTOP, a
# frozen virtual machine, a lost network) would keep its row locks, and others waiting, until it comes back.
_SILENT_SECONDS = 15
# And a claim gives up waiting for somebody else's row lock after so long: claims hold theirs for a moment
# only, so that one belongs to a process which is stopped. There are few connections for claims, and others
# need them.
_LOCKED_SECONDS = 1


class Store:
    """Sessions by purpose: `reading` (plain reads), `writing` (one short transaction), `handling`
    (a writing session that claims a message first) and `claiming` (leases, which need no durability)."""

    def __init__(self, url: str, *, connections: int = 6) -> None:
        """`connections` to PostgreSQL at most; others wait for one to come free."""
        # Told of a transaction, by its beginning (`time.monotonic`), whose commit broke off: it may have gone
        # through, and only the word of it got lost.
        self.in_doubt: Callable[[float], None] = lambda since: None
        self.url = make_url(url)
        self._hurries = False
        self.dialect: Literal["sqlite", "postgresql"] = (
            "sqlite" if self.url.get_backend_name() == "sqlite" else "postgresql"
        )
        if self.is_sqlite:
            self._reader = self._sqlite_engine("BEGIN", pool_size=4)
            # One writer per process, for claims too: the others wait here, in order and woken at once, not
            # asleep inside SQLite.
            self._writer = self._sqlite_engine(_IMMEDIATE, pool_size=1)
            self._claimer = self._writer.execution_options(**{_DURABLE: False})
        else:
            self._pooler = _postgresql().Pooler()
            self._reader = self._writer = self._postgres_engine(pool_size=connections)
            self._each = self._writer.execution_options(isolation_level="AUTOCOMMIT")
            claims = 1 if connections <= 2 else 2
            self._claimer = self._postgres_engine(
                pool_size=claims, synchronous_commit="off", lock_timeout=f"{_LOCKED_SECONDS}s"
            )
            # The same connections. Each statement is a transaction of its own, which the server itself ends.
            self._plain_reader = self._reader.execution_options(isolation_level="AUTOCOMMIT")
            self._plain_claimer = self._claimer.execution_options(isolation_level="AUTOCOMMIT")

    @property
    def is_sqlite(self) -> bool:
        return self.dialect == "sqlite"

    @property
    def clock(self) -> str:
        """SQL for the database's own clock, comparable with any moment column."""
        return "strftime('%Y-%m-%d %H:%M:%f000','now')" if self.is_sqlite else "clock_timestamp()"

    def clock_plus(self, seconds: str) -> str:
        """SQL for the clock plus a bound number of seconds, given as a parameter such as `:delay`."""
        if self.is_sqlite:
            return f"strftime('%Y-%m-%d %H:%M:%f000','now', ({seconds}) || ' seconds')"
        return f"clock_timestamp() + make_interval(secs => {seconds})"

    @asynccontextmanager
    async def reading(self, *, streamed: bool = False) -> AsyncIterator[AsyncSession]:
        """Plain reads; nothing it sees is locked. Each statement sees what is committed when it begins, so on
        PostgreSQL no transaction is needed around them, unless rows are `streamed` from a cursor."""
        engine = self._plain_reader if self._ends_itself and not streamed else self._reader
        async with AsyncSession(engine, expire_on_commit=False) as session:
            yield session

    @property
    def _ends_itself(self) -> bool:
        """Whether statements may run without a transaction around them. A pooler gives each transaction a
        session of its choice, and preparing a statement and running it would be two."""
        return not self.is_sqlite and self._pooler.is_absent

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncSession]:
        """One short transaction, committed at the end of the block."""
        async with self.handling(None) as session:
            yield session

    @asynccontextmanager
    async def writing_each(self) -> AsyncIterator[AsyncSession]:
        """For statements that need not be seen together: each is durable when it returns, and is spared the
        BEGIN and the COMMIT. On SQLite they are one transaction, which costs less there than several."""
        if self.is_sqlite:
            async with self.writing() as session:
                yield session
            return
        async with AsyncSession(self._each, expire_on_commit=False) as session:
            yield session

    @asynccontextmanager
    async def handling(self, claim: Callable[[Connection], None] | None) -> AsyncIterator[AsyncSession]:
        """A transaction that begins on first use, with `claim` as its first statements.

        Commits at the end of the block when it was begun; then runs the callbacks gathered in
        `session.info["after_commit"]`, or those in `"after_rollback"` where the commit was not heard of.
        """
        async with AsyncSession(self._writer, expire_on_commit=False) as session:
            began: list[float] = []

            @event.listens_for(session.sync_session, "after_begin")
            def _(_session: Session, _transaction: Any, connection: Connection) -> None:
                began.append(time.monotonic())
                if claim is not None:
                    claim(connection)

            is_committing = is_committed = False
            try:
                yield session
                is_committing = True
                await session.commit()
                is_committed = True
            except Exception as error:
                if began and is_passing(error):
                    if is_committing:
                        self.in_doubt(began[-1])
                    if claim is not None and self._was_silent(began[-1]):
                        raise SilentTransactionError(_SILENT_SECONDS) from error
                raise
            finally:
                if not is_committed:
                    _call_back(session, "after_rollback")
            if began and self.is_sqlite:
                self._warn_if_long(time.monotonic() - began[-1])
            _call_back(session, "after_commit")

    def _was_silent(self, since: float) -> bool:
        """Whether the server may have ended a transaction because nothing came: the driver hears only that
        its connection is gone."""
        return not self.is_sqlite and time.monotonic() - since >= _SILENT_SECONDS

    @asynccontextmanager
    async def rehearsing(self) -> AsyncIterator[AsyncSession]:
        """A transaction that is always rolled back."""
        async with AsyncSession(self._writer, expire_on_commit=False) as session:
            try:
                yield session
                await session.rollback()
            finally:
                _call_back(session, "after_rollback")

    @asynccontextmanager
    async def claiming(self) -> AsyncIterator[AsyncConnection]:
        """A transaction whose loss costs nothing (a lease, a heartbeat), so it waits for no disk."""
        async with self._claimer.begin() as connection:
            yield connection

    @asynccontextmanager
    async def claiming_once(self) -> AsyncIterator[AsyncConnection]:
        """The same for a single statement. PostgreSQL commits it by itself: a process that is stopped in the
        middle (SIGSTOP, a frozen machine) holds no lock until it wakes."""
        if not self._ends_itself:
            async with self.claiming() as connection:
                yield connection
        else:
            async with self._plain_claimer.connect() as connection:
                yield connection

    def hurry(self) -> None:
        """For whoever keeps deadlines: wait for SQLite's write lock in short naps.

        SQLite sleeps a tenth of a second between its looks, and where the disk is slow, neighbours who write
        all the time have the lock again before it wakes. PostgreSQL lets nobody wait like that.
        """
        self._hurries = True

    async def forget_deleted(self) -> None:
        """What was deleted is gone from SQLite's write-ahead log, too; PostgreSQL's vacuum does that itself.

        Readers of an older state hold it up: then the log is emptied at a later call, or written over.
        """
        if not self.is_sqlite:
            return
        for _ in range(_FORGET_TRIES):
            async with self._writer.connect() as connection:
                driver: Any = (await connection.get_raw_connection()).driver_connection
                # It would wait for readers as long as for writers, and hold everybody up meanwhile.
                await driver.execute(f"PRAGMA busy_timeout={_FORGET_MS}")
                try:
                    async with driver.execute("PRAGMA wal_checkpoint(TRUNCATE)") as cursor:
                        is_busy = (await cursor.fetchone())[0]
                finally:
                    await driver.execute(f"PRAGMA busy_timeout={_WAIT_SECONDS * 1000}")
            if not is_busy:
                return
            await asyncio.sleep(_FORGET_MS / 1000)

    async def problem(self) -> str | None:
        """Why nothing can be written now; raises what the driver does where it cannot even be asked."""
        if self.is_sqlite:
            async with self.reading() as session:
                await session.execute(text("SELECT 1"))
            full = await asyncio.to_thread(disk.is_full, Path(self.url.database or "."))
            return "the database's disk is full" if full else None
        async with self._reader.connect() as connection:
            if await connection.scalar(text("SELECT current_setting('transaction_read_only')")) == "off":
                return None
            # A session keeps this from its beginning, though the server may take writes by now.
            await connection.invalidate()
            return "the database takes no writes"

    async def close(self) -> None:
        engines = (self._reader, self._writer) if self.is_sqlite else (self._writer, self._claimer)
        for engine in engines:
            await engine.dispose()

    def _warn_if_long(self, seconds: float) -> None:
        if seconds > LONG_WRITE_SECONDS:
            log.warning(
                "writer_held_long", seconds=round(seconds, 3), remedy="compute before touching the session"
            )

    def _sqlite_engine(self, begin: str, *, pool_size: int) -> AsyncEngine:
        if self.url.database and self.url.database != ":memory:":
            _private_database(Path(self.url.database).absolute())
        engine = create_async_engine(
            self.url,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=300,
            hide_parameters=True,
            connect_args={"timeout": _WAIT_SECONDS},
        )
        one_call_a_statement(engine)

        @event.listens_for(engine.sync_engine, "connect")
        def _(connection: Any, _record: Any) -> None:
            connection.isolation_level = None  # transactions are begun below, not guessed by the driver
            cursor = connection.cursor()
            for pragma in (
                "journal_mode=WAL",
                "synchronous=FULL",
                "foreign_keys=ON",
                "temp_store=MEMORY",
                # What is deleted is gone from the file, too: people ask for that.
                "secure_delete=ON",
            ):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()

        @event.listens_for(engine.sync_engine, "invalidate")
        def _(connection: Any, _record: Any, _error: Any) -> None:
            # After a cancelled statement. Closing is not enough: while a cursor of it is referenced anywhere,
            # a closed connection keeps its transaction, and with it everybody's write lock.
            connection.rollback()

        @event.listens_for(engine.sync_engine, "begin")
        def _(connection: Connection) -> None:
            durable = connection.get_execution_options().get(_DURABLE, True)
            if connection.info.get(_DURABLE, True) != durable:
                connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                connection.info[_DURABLE] = durable
            # A deferred transaction that turns into a writer can fail midway; an immediate one waits first.
            if self._hurries and begin == _IMMEDIATE:
                _nap_until_begun(connection)
            else:
                connection.exec_driver_sql(begin)

        return engine

    def _postgres_engine(self, *, pool_size: int, **more: str) -> AsyncEngine:
        settings = {"idle_in_transaction_session_timeout": f"{_SILENT_SECONDS}s", **more}
        engine = create_async_engine(
            self.url,
            pool_size=pool_size,
            # No more at peaks either: a server takes 100 in all by default, and processes are many.
            max_overflow=0,
            pool_timeout=60,
            hide_parameters=True,  # errors are logged; what was to be stored is nobody's business there
            connect_args={
                "async_creator_fn": _postgresql().connect,
                "server_settings": {"application_name": "docproc", "jit": "off", **settings},
                "timeout": 10,
                "command_timeout": 60,
            },
        )

        @event.listens_for(engine.sync_engine, "handle_error")
        def _(context: ExceptionContext) -> None:
            if _state(context.original_exception).startswith(_USED_UP):
                context.is_disconnect = True  # none of the pool's connections is given out again

        @event.listens_for(engine.sync_engine, "do_connect")
        def _(_dialect: Any, _record: Any, _args: Any, options: dict[str, Any]) -> None:
            self._pooler.adapt(options)

        @event.listens_for(engine.sync_engine, "begin")
        def _(connection: Connection) -> None:
            if self._pooler.is_there:  # the session is ours for this transaction only
                wanted = [f"set_config('{name}', '{value}', true)" for name, value in settings.items()]
                connection.exec_driver_sql(f"SELECT {', '.join(wanted)}")

        return engine


def _call_back(session: AsyncSession, when: str) -> None:
    for callback in session.info.pop(when, []):
        callback()


def _nap_until_begun(connection: Connection) -> None:
    """Begin as a writer; raises what SQLAlchemy does when the lock is not to be had at all."""
    if not connection.info.get(_NAPS):
        connection.exec_driver_sql(f"PRAGMA busy_timeout={_NAP_MS}")
        connection.info[_NAPS] = True
    ends = time.monotonic() + _WAIT_SECONDS
    cursor = connection.connection.cursor()
    try:
        while time.monotonic() < ends:
            try:
                cursor.execute(_IMMEDIATE)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    break  # told below, in SQLAlchemy's words
            else:
                return
    finally:
        cursor.close()
    connection.exec_driver_sql(_IMMEDIATE)


def _private_database(path: Path) -> None:
    """Nobody else reads it. SQLite gives the files that it makes beside it the database's own permissions."""
    private_folder(path.parent, tighten=False)  # perhaps a folder with other things in it
    private_file(path)
    private_files(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal"))


# SQLSTATEs that only mean "again": serialization failure, deadlock, a statement that somebody else cancelled,
# a lock that was not to be had in time.
_AGAIN = {"40001", "40P01", "57014", "55P03"}
_CONTENTION = {"40001", "40P01"}
# Those after which a session is of no use: a read-only one stays so, though the server that was in recovery
# takes writes by now (25006); the server ended it, because we were silent for too long (25P03); the server is
# going, or coming (57P); the connection is lost (08).
_USED_UP = ("25006", "25P03", "57P", "08")
# The server is out of something: disk (53100), memory, connections.
_SHORT = "53"
_DISK_FULL = "53100"
_FIRST_WAIT_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 1.0


def _state(error: BaseException | None) -> str:
    return getattr(error, "sqlstate", None) or ""


def is_passing(error: BaseException) -> bool:
    """Whether the database failed in a way that says nothing about the message: try again, count nothing.

    Only the error itself is looked at: a component whose own connections fail must not be taken for it.
    """
    if isinstance(error, DatabaseDownError | CutOffError | PoolTimeoutError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    state = _state(error.orig)
    if error.connection_invalidated or state in _AGAIN or state.startswith((*_USED_UP, _SHORT)):
        return True
    return is_full(error) or (isinstance(error, OperationalError) and "locked" in str(error.orig))


def is_contention(error: BaseException) -> bool:
    """Whether transactions were in each other's way: this one was undone whole, and may be tried again."""
    return isinstance(error, DBAPIError) and _state(error.orig) in _CONTENTION


def is_full(error: BaseException) -> bool:
    """Whether the database's disk is full: it passes, when somebody makes room."""
    if not isinstance(error, DBAPIError):
        return False
    return _state(error.orig) == _DISK_FULL or "database or disk is full" in str(error.orig)


async def until_passed(action: Callable[[], Awaitable[T]]) -> T:
    """Its result, however long the database's trouble lasts; for what repeats without harm."""
    wait = _FIRST_WAIT_SECONDS
    while True:
        try:
            return await action()
        except Exception as error:
            if not is_passing(error):
                raise
        await asyncio.sleep(wait)
        wait = min(wait * 2, _LONGEST_WAIT_SECONDS)


def _postgresql() -> ModuleType:
    """Its driver is an extra: SQLite needs none of it."""
    try:
        from docproc.engine.store import postgresql
    except ImportError as error:
        raise ConfigurationError(
            f"PostgreSQL needs a package that is not installed: {error.name}",
            remedy="Install it with: pip install 'docproc[postgresql]'",
        ) from error
    return postgresql
