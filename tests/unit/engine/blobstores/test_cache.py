"""Copies under home: one per version, bounded, gone soon after use and with their owner."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from docproc.engine.blobstores import cache as module
from docproc.engine.blobstores.cache import IDLE_SECONDS, IN_USE_SECONDS, Cache

YESTERDAY = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache", 1000)


async def one(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def never() -> AsyncIterator[bytes]:
    pytest.fail("it was there already")
    yield b""


def used(path: Path, seconds_ago: float) -> None:
    then = time.time() - seconds_ago
    os.utime(path, (then, then))


async def test_a_copy_is_made_once_per_version(cache: Cache) -> None:
    path = await cache.fetch("r/in/0.pdf", "1", one(b"old"))
    assert path.read_bytes() == b"old"
    assert path.stat().st_mode & 0o777 == 0o600
    assert await cache.fetch("r/in/0.pdf", "1", never()) == path
    newer = await cache.fetch("r/in/0.pdf", "2", one(b"new"))
    assert newer.read_bytes() == b"new"


async def test_those_who_want_it_at_once_wait_for_one_download(cache: Cache) -> None:
    downloads = 0

    async def slowly() -> AsyncIterator[bytes]:
        nonlocal downloads
        downloads += 1
        await asyncio.sleep(0.01)
        yield b"x"

    paths = await asyncio.gather(*(cache.fetch("r/a", "1", slowly()) for _ in range(8)))
    assert len(set(paths)) == 1
    assert downloads == 1


async def test_a_download_that_breaks_off_leaves_no_copy(cache: Cache) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await cache.fetch("r/a", "1", broken())
    assert [path for path in cache.folder.rglob("*") if path.is_file()] == []
    assert (await cache.fetch("r/a", "1", one(b"whole"))).read_bytes() == b"whole"


async def test_what_was_not_used_for_a_while_goes(cache: Cache) -> None:
    idle = await cache.fetch("r1/a", "1", one(b"x"))
    recent = await cache.fetch("r2/a", "1", one(b"x"))
    used(idle, IDLE_SECONDS + 1)
    used(recent, IDLE_SECONDS - 60)
    cache.sweep(YESTERDAY)
    assert (idle.exists(), idle.parent.exists(), recent.exists()) == (False, False, True)


async def test_the_longest_unused_of_too_much_go_first(cache: Cache) -> None:
    paths = [await cache.fetch(f"r{number}/a", "1", one(b"x" * 400)) for number in range(4)]
    for number, path in enumerate(paths):
        used(path, IN_USE_SECONDS + 1 + number)
    cache.shrink()
    assert [path.exists() for path in paths] == [True, True, False, False]


async def test_what_is_in_use_stays_however_much_it_is(cache: Cache) -> None:
    paths = [await cache.fetch(f"r{number}/a", "1", one(b"x" * 400)) for number in range(4)]
    cache.shrink()
    assert all(path.exists() for path in paths)


async def test_it_shrinks_by_itself(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.0)
    first = await cache.fetch("r1/a", "1", one(b"x" * 900))
    used(first, IN_USE_SECONDS + 1)
    await cache.fetch("r2/a", "1", one(b"x" * 900))
    assert not first.exists()


async def test_an_idle_process_looks_too(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0.01)
    path = await cache.fetch("r1/a", "1", one(b"x"))
    used(path, IDLE_SECONDS + 1)
    async with asyncio.timeout(5):
        while path.exists():
            await asyncio.sleep(0.01)


async def test_an_owner_takes_its_copies_along(cache: Cache) -> None:
    gone, kept = await cache.fetch("r1/a", "1", one(b"x")), await cache.fetch("r2/a", "1", one(b"x"))
    cache.forget("r1")
    assert (gone.exists(), kept.exists()) == (False, True)
