"""SQLite's connections: each statement costs one change of threads instead of four.

SQLAlchemy's adapter of aiosqlite makes a cursor, executes, fetches and closes it in four calls to the
connection's thread. A statement here takes less time than one such call, so it does all four in one.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from typing import Any, cast

from sqlalchemy import event
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_connection, AsyncAdapt_aiosqlite_cursor
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.util.concurrency import await_only


class _Cursor(AsyncAdapt_aiosqlite_cursor):
    """Holds what a statement has found; the driver's own cursor never leaves its thread."""

    __slots__ = ("_description", "_lastrowid", "_rowcount", "arraysize")

    def __init__(self, adapt_connection: Any) -> None:
        self._adapt_connection = adapt_connection
        self._connection = adapt_connection._connection
        self._rows = deque()
        self._description: Any = None
        self._rowcount = -1
        self._lastrowid: int | None = None
        self.arraysize = 1

    @property
    def description(self) -> Any:
        return self._description

    @property
    def rowcount(self) -> int:
        return self._rowcount

    @property
    def lastrowid(self) -> Any:
        return self._lastrowid

    async def _async_soft_close(self) -> None:
        """It is closed already."""

    def close(self) -> None:
        self._rows.clear()

    def execute(self, operation: Any, parameters: Any = None) -> Any:
        return self._run(sqlite3.Cursor.execute, operation, parameters or ())

    def executemany(self, operation: Any, seq_of_parameters: Any) -> Any:
        return self._run(sqlite3.Cursor.executemany, operation, seq_of_parameters)

    def _run(self, method: Any, operation: str, parameters: Any) -> None:
        connection: Any = self._connection

        def run() -> tuple[Any, int, int | None, list[Any]]:
            cursor = cast(sqlite3.Connection, connection._conn).cursor()
            try:
                method(cursor, operation, parameters)
                found = cursor.fetchall() if cursor.description else []
                return cursor.description, cursor.rowcount, cursor.lastrowid, found
            finally:
                # A cursor left open keeps its transaction, and with it everybody's write lock.
                cursor.close()

        try:
            found = await_only(connection._execute(run))
        except Exception as error:  # noqa: BLE001 # SQLAlchemy's own translation decides
            self._adapt_connection._handle_exception(error)
        self._description, self._rowcount, self._lastrowid, rows = found
        self._rows = deque(rows)


class _Connection(AsyncAdapt_aiosqlite_connection):
    __slots__ = ()

    _cursor_cls = _Cursor


def one_call_a_statement(engine: AsyncEngine) -> None:
    """Let an engine on aiosqlite use these connections."""

    @event.listens_for(engine.sync_engine, "do_connect")
    def _(dialect: Dialect, _record: Any, arguments: Any, options: Any) -> Any:
        made: Any = dialect.connect(*arguments, **options)
        return _Connection(made.dbapi, made.driver_connection)
