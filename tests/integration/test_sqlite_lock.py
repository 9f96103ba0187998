"""A cancelled statement (a stage's time limit, a shutdown) must not keep SQLite's only write lock."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from docproc.engine.store.session import Store


@pytest.mark.parametrize("kind", ["claiming", "writing"])
async def test_cancelled_transaction_leaves_the_write_lock_free(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    store = Store(f"sqlite+aiosqlite:///{path}")

    async def write() -> None:
        async with getattr(store, kind)() as session:
            await session.execute(text("INSERT INTO numbers VALUES (1) RETURNING n"))
            await session.execute(text("SELECT 1"))

    async with store.writing() as session:
        await session.execute(text("CREATE TABLE numbers (n INTEGER)"))
    for step in range(60):  # each cut off at another moment of its life, a few milliseconds long
        task = asyncio.create_task(write())
        await asyncio.sleep(step * 0.0001)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await asyncio.to_thread(_take_the_lock, path)
    await store.close()


def _take_the_lock(path: Path) -> None:
    """Raises `database is locked` when somebody keeps it for longer than a second."""
    with contextlib.closing(sqlite3.connect(path, timeout=1, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")


@pytest.mark.parametrize("kind", ["claiming", "writing"])
async def test_who_hurries_is_not_kept_waiting_by_busy_writers(kind: str, tmp_path: Path) -> None:
    """On a slow disk a neighbour holds the lock nearly all the time: a deadline waits for no lucky look."""
    path = tmp_path / "test.db"
    store = Store(f"sqlite+aiosqlite:///{path}")
    store.hurry()
    async with store.writing() as session:
        await session.execute(text("CREATE TABLE numbers (n INTEGER)"))
    ending = threading.Event()
    neighbour = asyncio.create_task(asyncio.to_thread(_write_all_the_time, path, ending))
    await asyncio.sleep(0.1)
    try:
        waits = []
        for _ in range(4):
            began = time.monotonic()
            async with getattr(store, kind)() as session:
                await session.execute(text("INSERT INTO numbers VALUES (1)"))
            waits.append(time.monotonic() - began)
            await asyncio.sleep(0.05)  # the neighbour has the lock again
    finally:
        ending.set()
        await neighbour
        await store.close()
    assert sum(waits) / len(waits) < 1.2, waits


def _write_all_the_time(path: Path, ending: threading.Event) -> None:
    with contextlib.closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as connection:
        while not ending.is_set():
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(0.2)  # as long as its disk takes
            connection.execute("COMMIT")
            time.sleep(0.003)
