"""Connections to PostgreSQL; imported where the database is one."""

from __future__ import annotations

from typing import Any

import asyncpg

from docproc.errors import DatabaseDownError


async def connect(*args: Any, **options: Any) -> Any:
    """A connection, or one kind of error for the many ways a server can be absent."""
    try:
        return await asyncpg.connect(*args, **options)
    except (OSError, TimeoutError, asyncpg.CannotConnectNowError, asyncpg.TooManyConnectionsError) as error:
        raise DatabaseDownError(f"PostgreSQL takes no connections: {error}") from error
