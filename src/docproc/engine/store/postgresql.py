"""Connections to PostgreSQL; imported where the database is one."""

from __future__ import annotations

from typing import Any

import asyncpg

from docproc.errors import DatabaseDownError

# Refused or cut (08), shutting down or starting (57), out of connections or memory (53).
_ABSENT = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
)


async def connect(*args: Any, **options: Any) -> Any:
    """A connection, or one kind of error for the many ways a server can be absent."""
    try:
        return await asyncpg.connect(*args, **options)
    except _ABSENT as error:
        raise DatabaseDownError(f"PostgreSQL takes no connections: {error}") from error
