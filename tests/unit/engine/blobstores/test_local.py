"""The local blob store: whole or not at all, and never outside its folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from docproc.engine.blobs import check_key, safe_name
from docproc.engine.blobstores.local import LocalBlobStore
from docproc.errors import ConfigurationError, TooLargeError


async def stream(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.fixture
def blobs(tmp_path: Path) -> LocalBlobStore:
    return LocalBlobStore(tmp_path / "storage")


def leftovers(blobs: LocalBlobStore) -> list[Path]:
    return [path for path in blobs.root.rglob("*") if path.is_file()]


async def test_stream_is_stored_with_size_and_hash(blobs: LocalBlobStore) -> None:
    blob = await blobs.put("r1/in/0-a.pdf", stream(b"ab", b"c" * 3_000_000))
    path = await blobs.fetch("r1/in/0-a.pdf")
    assert path.read_bytes() == b"ab" + b"c" * 3_000_000
    assert blob.size == 3_000_002
    assert len(blob.sha256) == 64


async def test_too_large_a_stream_leaves_nothing(blobs: LocalBlobStore) -> None:
    with pytest.raises(TooLargeError, match="DOCPROC_MAX_UPLOAD_MB"):
        await blobs.put("r1/in/0-a", stream(b"x" * 100), max_bytes=99)
    assert leftovers(blobs) == []


async def test_broken_stream_leaves_nothing(blobs: LocalBlobStore) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await blobs.put("r1/in/0-a", broken())
    assert leftovers(blobs) == []


async def test_written_twice_holds_the_newer_content(blobs: LocalBlobStore) -> None:
    await blobs.put("r/a", stream(b"one"))
    await blobs.put("r/a", stream(b"two"))
    assert (await blobs.fetch("r/a")).read_bytes() == b"two"


async def test_copy_and_delete(blobs: LocalBlobStore) -> None:
    await blobs.put("r/a", stream(b"one"))
    await blobs.copy("r/a", "s/b")
    await blobs.delete("r")
    assert not await blobs.exists("r/a")
    assert (await blobs.fetch("s/b")).read_bytes() == b"one"
    with pytest.raises(FileNotFoundError):
        await blobs.fetch("r/a")


async def test_file_is_taken_over(blobs: LocalBlobStore) -> None:
    with blobs.scratch() as folder:
        (folder / "x").write_bytes(b"page")
        blob = await blobs.put_file("r/files/0000.pdf", folder / "x")
    assert blob.size == 4
    assert (await blobs.fetch("r/files/0000.pdf")).read_bytes() == b"page"
    assert [path.name for path in leftovers(blobs)] == ["0000.pdf"]


async def test_owners_are_told_by_age(blobs: LocalBlobStore) -> None:
    await blobs.put("old/a", stream(b"1"))
    now = datetime.now(UTC)
    assert [owner async for owner in blobs.owners(before=now - timedelta(hours=1))] == []
    assert [owner async for owner in blobs.owners(before=now + timedelta(hours=1))] == ["old"]


async def test_forbidden_folder_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigurationError, match="DOCPROC_STORAGE_PATH"):
        await LocalBlobStore(tmp_path / "file").put("r/a", stream(b"1"))


@pytest.mark.parametrize("key", ["../x", "/etc/x", "a/../b", "a//b", "", "a/", "a\0b", "ä", "a" * 300])
def test_keys_are_no_paths(key: str) -> None:
    with pytest.raises(ValueError, match="no blob key"):
        check_key(key)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("factura enero.pdf", "factura-enero.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\a b.TIF", "a-b.TIF"),
        ("", "file"),
        ("ñ.pdf", "file.pdf"),
        (".hidden", "file.hidden"),
        ("x" * 300 + ".pdf", "x" * 80 + ".pdf"),
    ],
)
def test_foreign_names_become_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe
    check_key(f"r/in/0-{safe}")


# --- what was left half made ----------------------------------------------------------------------------

TOMORROW = datetime.now(UTC) + timedelta(days=1)
KILLED = """
import os, pathlib, sys
from docproc.engine.blobstores.local import LocalBlobStore
with LocalBlobStore(pathlib.Path(sys.argv[1])).scratch() as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "half").write_bytes(b"x")
    os._exit(0)
"""


def killed_in_the_middle(blobs: LocalBlobStore) -> Path:
    subprocess.run([sys.executable, "-c", KILLED, str(blobs.root)], check=True, timeout=60)
    (left,) = (blobs.root / ".scratch").iterdir()
    return left


async def test_what_a_killed_process_left_is_swept_when_it_is_old(blobs: LocalBlobStore) -> None:
    left = killed_in_the_middle(blobs)
    assert await blobs.sweep_scratch(before=datetime.now(UTC) - timedelta(days=1)) == 0
    assert (left / "deep" / "half").exists()
    assert await blobs.sweep_scratch(before=TOMORROW) == 1
    assert not left.exists()
    assert await blobs.sweep_scratch(before=TOMORROW) == 0


async def test_scratch_in_use_is_never_swept(blobs: LocalBlobStore) -> None:
    with blobs.scratch() as folder:
        (folder / "half").write_bytes(b"x")
        assert await blobs.sweep_scratch(before=TOMORROW) == 0
        assert (folder / "half").exists()
    assert not folder.exists()


async def test_a_file_that_still_grows_keeps_its_folder(blobs: LocalBlobStore) -> None:
    """Where the storage knows no locks between machines, an upload of days must still not be cut off."""
    left = killed_in_the_middle(blobs)
    for path in (left, left / "deep"):
        os.utime(path, (0, 0))
    assert await blobs.sweep_scratch(before=datetime.now(UTC) - timedelta(days=1)) == 0


async def test_sweeping_before_anything_was_stored_is_nothing(blobs: LocalBlobStore) -> None:
    assert await blobs.sweep_scratch(before=TOMORROW) == 0
