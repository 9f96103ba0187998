"""Connections to PostgreSQL, itself or through a pooler; imported where the database is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg
import structlog
from sqlalchemy.util import await_only

from docproc.errors import DatabaseDownError

log = structlog.get_logger(__name__)

# Refused or cut (08), shutting down or starting (57), out of connections or memory (53).
_ABSENT = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
)
# What is SQLAlchemy's among the options of a connection.
_NOT_THE_DRIVERS = ("async_creator_fn", "server_settings")

# For connections through a pooler: every statement is parsed where it runs, under no name that another client
# of the same session could have taken.
POOLED: dict[str, Any] = {"statement_cache_size": 0}
_POOLED_DIALECT: dict[str, Any] = {
    **POOLED,
    "prepared_statement_cache_size": 0,
    "prepared_statement_name_func": lambda: "",
}


async def connect(*args: Any, **options: Any) -> Any:
    """A connection, or one kind of error for the many ways a server can be absent."""
    with _told_as_down():
        return await asyncpg.connect(*args, **options)


@contextmanager
def _told_as_down() -> Iterator[None]:
    try:
        yield
    except _ABSENT as error:
        raise DatabaseDownError(f"PostgreSQL takes no connections: {error}") from error


async def is_pooled(connection: asyncpg.Connection) -> bool:
    """Whether somebody stands between who gives each transaction a session of its choice (pgbouncer).

    Such a one gives its clients cancel keys of its own, so their process is not the one that answers.
    """
    async with connection.transaction():  # one session for both: asking, and hearing the answer
        statement = await connection.prepare("SELECT pg_backend_pid()", name="")
        return bool(await statement.fetchval() != connection.get_server_pid())


class Pooler:
    """Finds out at the first connection whether there is one, and then leaves nothing in its sessions."""

    def __init__(self) -> None:
        self._is_there: bool | None = None

    @property
    def is_there(self) -> bool:
        """Known as soon as there was a connection."""
        return bool(self._is_there)

    @property
    def is_absent(self) -> bool:
        """Certainly; before the first connection nobody knows."""
        return self._is_there is False

    def adapt(self, options: dict[str, Any]) -> None:
        """Change the options of a connection that is about to be made, inside SQLAlchemy's greenlet."""
        if self._is_there is None:
            self._is_there = await_only(self._look(options))
        if self._is_there:
            # Poolers refuse settings of a session that they do not know, and would share the others.
            known = {"application_name": options["server_settings"]["application_name"]}
            options.update(_POOLED_DIALECT, server_settings=known)

    async def _look(self, options: dict[str, Any]) -> bool:
        plain = {name: value for name, value in options.items() if name not in _NOT_THE_DRIVERS}
        connection = await connect(**plain, **POOLED)
        try:
            with _told_as_down():  # a pooler lets its clients in while the server is away
                found = await is_pooled(connection)
        finally:
            connection.terminate()
        if found:
            log.info("database_behind_pooler")
        return found
