"""Equal content of one tenant is stored once; it goes with the last who needs it, and never before."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from docproc.engine.blobs import BlobStore
from docproc.engine.blobstores.cache import Cache
from docproc.engine.blobstores.contents import Contents
from docproc.engine.blobstores.encrypted import EncryptedBlobStore
from docproc.engine.blobstores.local import LocalBlobStore
from docproc.engine.blobstores.sealing import Keyring

YESTERDAY = datetime.now(UTC) - timedelta(days=1)


async def one(content: bytes) -> AsyncIterator[bytes]:
    yield content


@pytest.fixture
def local(tmp_path: Path) -> LocalBlobStore:
    return LocalBlobStore(tmp_path / "storage")


@pytest.fixture(params=["plain", "encrypted"])
def blobs(request: pytest.FixtureRequest, local: LocalBlobStore, tmp_path: Path) -> BlobStore:
    if request.param == "plain":
        return local
    return EncryptedBlobStore(local, Keyring([b"k" * 32]), Cache(tmp_path / "cache", 10**9))


def stored(local: LocalBlobStore) -> int:
    """How many different files there are, whatever they are called."""
    return len({path.stat().st_ino for path in local.root.rglob("*") if path.is_file()})


def shared(local: LocalBlobStore) -> list[Path]:
    return list((local.root / ".content").glob("*/*"))


async def test_two_requests_of_a_tenant_store_a_file_once(blobs: BlobStore, local: LocalBlobStore) -> None:
    first = await blobs.put("r1/in/0-a.pdf", one(b"same"), tenant="acme")
    second = await blobs.put("r2/in/0-other-name.pdf", one(b"same"), tenant="acme")
    assert first.sha256 == second.sha256
    assert stored(local) == 1
    await blobs.delete("r1")
    assert (await blobs.fetch("r2/in/0-other-name.pdf")).read_bytes() == b"same"
    assert stored(local) == 1
    await blobs.delete("r2")
    assert stored(local) == 0
    assert shared(local) == []


async def test_tenants_never_share(blobs: BlobStore, local: LocalBlobStore) -> None:
    for tenant in ("acme", "globex"):
        await blobs.put(f"{tenant}/in/0", one(b"same"), tenant=tenant)
    assert stored(local) == 2
    assert len({path.name for path in shared(local)}) == 2


async def test_nothing_is_shared_unasked(blobs: BlobStore, local: LocalBlobStore) -> None:
    await blobs.put("r/pages/0.png", one(b"same"))
    await blobs.put("r/pages/1.png", one(b"same"))
    assert stored(local) == 2
    assert shared(local) == []


async def test_a_file_found_inside_another_is_shared_too(blobs: BlobStore, local: LocalBlobStore) -> None:
    await blobs.put("r1/in/0-a.pdf", one(b"same"), tenant="acme")
    with blobs.scratch() as folder:
        (folder / "member").write_bytes(b"same")
        await blobs.put_file("r2/files/0000.pdf", folder / "member", tenant="acme")
    assert stored(local) == 1
    await blobs.delete("r1")
    assert (await blobs.fetch("r2/files/0000.pdf")).read_bytes() == b"same"


async def test_a_reprocessed_file_goes_with_the_last_of_the_two(
    blobs: BlobStore, local: LocalBlobStore
) -> None:
    await blobs.put("r1/in/0", one(b"same"), tenant="acme")
    await blobs.copy("r1/in/0", "r2/in/0")
    await blobs.delete("r1")
    assert stored(local) == 1
    await blobs.delete("r2")
    assert stored(local) == 0


async def test_the_same_file_twice_in_a_request_is_one(blobs: BlobStore, local: LocalBlobStore) -> None:
    for index in range(2):
        await blobs.put(f"r/in/{index}", one(b"same"), tenant="acme")
    await blobs.put("r/in/1", one(b"same"), tenant="acme")  # and again, as a repeated split does
    assert stored(local) == 1
    await blobs.delete("r")
    assert stored(local) == 0


async def test_content_of_a_process_that_died_while_erasing_is_swept(
    blobs: BlobStore, local: LocalBlobStore
) -> None:
    await blobs.put("r1/in/0", one(b"gone"), tenant="acme")
    await blobs.put("r2/in/0", one(b"kept"), tenant="acme")
    for path in sorted((local.root / "r1").rglob("*"), reverse=True):  # all that erasing does first
        path.unlink() if path.is_file() else path.rmdir()
    assert stored(local) == 2
    await blobs.sweep_scratch(before=YESTERDAY)
    assert stored(local) == 1
    assert (await blobs.fetch("r2/in/0")).read_bytes() == b"kept"


async def test_uploads_erasure_and_sweeps_at_once_lose_nothing(
    blobs: BlobStore, local: LocalBlobStore
) -> None:
    """Two contents, sent and erased over and over: whatever is accepted can be read until it is erased."""
    chance = random.Random(7)

    async def client(number: int) -> None:
        for turn in range(8):
            owner = f"r{number}-{turn}"
            content = chance.choice([b"first" * 100, b"second" * 100])
            await blobs.put(f"{owner}/in/0", one(content), tenant="acme")
            await asyncio.sleep(chance.random() / 200)
            assert b"".join([chunk async for chunk in blobs.read(f"{owner}/in/0")]) == content
            await blobs.delete(owner)

    async def sweeper() -> None:
        while True:
            await blobs.sweep_scratch(before=YESTERDAY)
            await asyncio.sleep(0)

    sweeping = asyncio.create_task(sweeper())
    try:
        await asyncio.gather(*(client(number) for number in range(8)))
    finally:
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)
    await blobs.sweep_scratch(before=YESTERDAY)
    assert stored(local) == 0


# --- what the file system may do -------------------------------------------------------------------------


@pytest.fixture
def contents(tmp_path: Path) -> Contents:
    return Contents(tmp_path / "content")


def made(tmp_path: Path, name: str, content: bytes = b"same") -> Path:
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


def test_erased_while_it_was_looked_for(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last who needed it erases it between our finding it and our linking to it."""
    first = made(tmp_path, "first")
    assert contents.share(first, "aa") == first
    link: Callable[..., None] = os.link
    steps: list[str] = []

    def linking(source: Path, target: Path) -> None:
        if target.name.endswith(".shared") and not steps:
            steps.append("erased")
            first.unlink()
            contents.release(["aa"])
        link(source, target)

    monkeypatch.setattr(os, "link", linking)
    second = made(tmp_path, "second")
    assert contents.share(second, "aa") == second
    assert steps == ["erased"]
    assert second.stat().st_nlink == 2  # and is found by the next


def test_linked_while_it_was_erased(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found to be needed by nobody, then linked to, then forgotten: the new link keeps it."""
    first = made(tmp_path, "first")
    contents.share(first, "aa")
    first.unlink()
    second = made(tmp_path, "second")
    found: list[Path] = []
    unlink = Path.unlink

    def unlinking(path: Path, missing_ok: bool = False) -> None:
        if not found:
            found.append(path)
            found.append(contents.share(second, "aa"))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlinking)
    contents.release(["aa"])
    assert found[1].read_bytes() == b"same"
    assert not found[0].exists()


@pytest.mark.parametrize("problem", [PermissionError, OSError])
def test_without_links_each_has_a_copy(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: type[OSError]
) -> None:
    def refuse(*_: object) -> None:
        raise problem("no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = made(tmp_path, "first")
    assert contents.share(path, "aa") == path
    assert contents.sweep() == 0


def test_damaged_content_is_not_handed_on(contents: Contents, tmp_path: Path) -> None:
    first = made(tmp_path, "first")
    contents.share(first, "aa")
    first.write_bytes(b"cut")
    second = made(tmp_path, "second")
    assert contents.share(second, "aa") == second
    third = made(tmp_path, "third")
    assert contents.share(third, "aa").read_bytes() == b"same"
    assert second.stat().st_nlink == 3


def test_a_file_with_all_the_names_it_can_have_is_stored_anew(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents.share(made(tmp_path, "first"), "aa")
    link: Callable[..., None] = os.link

    def linking(source: Path, target: Path) -> None:
        if target.name.endswith(".shared"):
            raise OSError(31, "Too many links")
        link(source, target)

    monkeypatch.setattr(os, "link", linking)
    second = made(tmp_path, "second")
    assert contents.share(second, "aa") == second
    assert second.stat().st_nlink == 2
