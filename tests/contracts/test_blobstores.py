"""The contract of blob stores, on a folder and on a real S3 server, each plain and encrypted."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from docproc.app import App
from docproc.engine.blobs import BlobStore
from docproc.errors import TooLargeError
from tests.harness import settings_for

# One server for all of them.
pytestmark = pytest.mark.xdist_group("s3")

KINDS = ("local", "local encrypted", "s3", "s3 encrypted")
KEY = base64.b64encode(b"k" * 32).decode()
MB = 1024 * 1024
# Of more than one part, and of a last one that is not whole.
SIZES = {"empty": 0, "byte": 1, "chunk": MB, "chunk and a byte": MB + 1, "parts": 19 * MB + 7}


@pytest.fixture(params=KINDS)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    values: dict[str, Any] = {"storage_path": tmp_path / "storage"}
    if request.param.startswith("s3"):
        values |= request.getfixturevalue("s3")
    if request.param.endswith("encrypted"):
        values["storage_key"] = KEY
    return values


@pytest.fixture
def blobs(settings: dict[str, Any], tmp_path: Path) -> BlobStore:
    return App(settings_for(tmp_path, **settings)).blobs


async def stream(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def content(size: int) -> bytes:
    """No two pieces of it are alike."""
    return hashlib.shake_128(str(size).encode()).digest(size)


async def read(blobs: BlobStore, key: str) -> bytes:
    return (await blobs.fetch(key)).read_bytes()


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
async def test_what_is_put_is_fetched_and_read(blobs: BlobStore, size: int) -> None:
    wanted = content(size)
    pieces = (wanted[place : place + 70_000] for place in range(0, size, 70_000))
    blob = await blobs.put("r1/in/0-a.pdf", stream(*pieces), tenant="one")
    assert (blob.size, blob.sha256) == (size, hashlib.sha256(wanted).hexdigest())
    path = await blobs.fetch("r1/in/0-a.pdf")
    assert path.read_bytes() == wanted
    assert path.suffix == ".pdf"
    assert b"".join([chunk async for chunk in blobs.read("r1/in/0-a.pdf")]) == wanted


async def test_too_large_a_stream_leaves_nothing(blobs: BlobStore) -> None:
    with pytest.raises(TooLargeError, match="DOCPROC_MAX_UPLOAD_MB"):
        await blobs.put("r1/in/0-a", stream(*[b"x" * MB] * 18), max_bytes=17 * MB)
    assert not await blobs.exists("r1/in/0-a")
    assert [owner async for owner in blobs.owners(before=datetime.now(UTC) + timedelta(hours=1))] == []


async def test_a_broken_stream_leaves_nothing(blobs: BlobStore) -> None:
    async def broken() -> AsyncIterator[bytes]:
        for _ in range(17):
            yield b"x" * MB
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await blobs.put("r1/in/0-a", broken())
    assert not await blobs.exists("r1/in/0-a")


async def test_a_cancelled_upload_leaves_nothing(blobs: BlobStore) -> None:
    stuck = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        for _ in range(17):
            yield b"x" * MB
        stuck.set()
        await asyncio.sleep(60)

    upload = asyncio.create_task(blobs.put("r1/in/0-a", slow()))
    await stuck.wait()
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload
    assert not await blobs.exists("r1/in/0-a")


async def test_what_is_missing_is_said_to_be(blobs: BlobStore) -> None:
    assert not await blobs.exists("r/a")
    assert await blobs.version("r/a") is None
    with pytest.raises(FileNotFoundError):
        await blobs.fetch("r/a")
    with pytest.raises(FileNotFoundError):
        [chunk async for chunk in blobs.read("r/a")]
    with pytest.raises(FileNotFoundError):
        await blobs.copy("r/a", "r/b")
    await blobs.delete("r")


async def test_written_twice_holds_the_newer_content(blobs: BlobStore) -> None:
    await blobs.put("r/a", stream(b"one"), tenant="t")
    assert await read(blobs, "r/a") == b"one"
    await blobs.put("r/a", stream(b"two"), tenant="t")
    assert await read(blobs, "r/a") == b"two"


async def test_another_process_sees_what_was_written_and_erased(
    blobs: BlobStore, settings: dict[str, Any], tmp_path: Path
) -> None:
    """With a home of its own, as on another machine: what it keeps there is never served once it is stale."""
    (tmp_path / "other").mkdir()
    other = App(settings_for(tmp_path / "other", **settings)).blobs
    await blobs.put("r/a", stream(b"one"))
    assert await read(other, "r/a") == b"one"
    await blobs.put("r/a", stream(b"newer"))
    assert await read(other, "r/a") == b"newer"
    await blobs.delete("r")
    with pytest.raises(FileNotFoundError):
        await other.fetch("r/a")


async def test_a_copy_outlives_its_source(blobs: BlobStore) -> None:
    await blobs.put("r/in/a", stream(b"one"), tenant="t")
    await blobs.copy("r/in/a", "s/in/b")
    await blobs.delete("r")
    assert not await blobs.exists("r/in/a")
    assert await read(blobs, "s/in/b") == b"one"


async def test_only_the_owners_files_are_deleted(blobs: BlobStore) -> None:
    for key in ("r/in/a", "r/pages/0.png", "r1/in/a"):
        await blobs.put(key, stream(b"x"), tenant="t")
    await blobs.delete("r")
    assert [await blobs.exists(key) for key in ("r/in/a", "r/pages/0.png", "r1/in/a")] == [False, False, True]


async def test_a_file_is_taken_over(blobs: BlobStore) -> None:
    with blobs.scratch() as folder:
        (folder / "x").write_bytes(b"page")
        blob = await blobs.put_file("r/files/0000.pdf", folder / "x", tenant="t")
        assert not (folder / "x").exists()
    assert (blob.size, blob.sha256) == (4, hashlib.sha256(b"page").hexdigest())
    assert await read(blobs, "r/files/0000.pdf") == b"page"
    assert not folder.exists()


async def test_owners_are_told_by_age(blobs: BlobStore) -> None:
    for key in ("a/in/0", "a/in/1", "b/in/0"):
        await blobs.put(key, stream(b"1"))
    now = datetime.now(UTC)
    assert [owner async for owner in blobs.owners(before=now - timedelta(hours=1))] == []
    later = [owner async for owner in blobs.owners(before=now + timedelta(hours=1))]
    assert sorted(later) == ["a", "b"]


async def test_keys_are_no_paths(blobs: BlobStore) -> None:
    for key in ("../x", "a/../b", "/etc/passwd"):
        with pytest.raises(ValueError, match="no blob key"):
            await blobs.put(key, stream(b"x"))
        with pytest.raises(ValueError, match="no blob key"):
            await blobs.fetch(key)
        with pytest.raises(ValueError, match="no blob key"):
            await blobs.delete(key)


async def test_many_at_once_are_each_their_own(blobs: BlobStore) -> None:
    async def one(number: int) -> None:
        key = f"r{number % 3}/in/{number}"
        await blobs.put(key, stream(content(1000 + number % 4)), tenant="t")
        assert await read(blobs, key) == content(1000 + number % 4)

    await asyncio.gather(*(one(number) for number in range(24)))


async def test_it_has_no_problem(blobs: BlobStore) -> None:
    assert await blobs.problem() is None


async def test_memory_stays_flat_and_the_loop_free(blobs: BlobStore) -> None:
    """A file of 128 MB passes, both ways, in some dozens; meanwhile the event loop answers others."""
    chunk = os.urandom(MB)
    late = 0.0

    async def watch() -> None:
        nonlocal late
        while True:
            then = time.perf_counter()
            await asyncio.sleep(0.005)
            late = max(late, time.perf_counter() - then - 0.005)

    process = psutil.Process()
    await blobs.put("r/warm", stream(*[chunk] * 20))
    await blobs.fetch("r/warm")
    before = process.memory_info().rss
    watching = asyncio.create_task(watch())
    peak = 0

    async def many() -> AsyncIterator[bytes]:
        nonlocal peak
        for _ in range(128):
            yield chunk
            peak = max(peak, process.memory_info().rss)

    await blobs.put("r/in/large", many(), tenant="t")
    async for _ in blobs.read("r/in/large"):
        peak = max(peak, process.memory_info().rss)
    watching.cancel()
    assert (peak - before) / MB < 96
    assert late < 0.5
