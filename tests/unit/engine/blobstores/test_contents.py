"""Equal content of one tenant is stored once; it goes with the last who needs it, and never before."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import shutil
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


def hints(local: LocalBlobStore) -> list[Path]:
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


async def test_many_who_store_the_same_at_once_store_it_once(blobs: BlobStore, local: LocalBlobStore) -> None:
    puts = (blobs.put(f"r{number}/in/0", one(b"same"), tenant="acme") for number in range(12))
    await asyncio.gather(*puts)
    assert stored(local) == 1


async def test_each_file_has_one_name_per_place_and_no_other(blobs: BlobStore, local: LocalBlobStore) -> None:
    """Whoever looks into the folder sees what was sent, as often as it was sent."""
    for number in range(2):
        await blobs.put(f"r{number}/in/0", one(b"same"), tenant="acme")
    names = [path.relative_to(local.root).as_posix() for path in local.root.rglob("*") if path.is_file()]
    assert sorted(names) == ["r0/in/0", "r1/in/0"]


async def test_a_file_is_still_found_when_the_first_who_had_it_is_erased(
    blobs: BlobStore, local: LocalBlobStore
) -> None:
    for number in range(12):
        await blobs.put(f"r{number}/in/0", one(b"same"), tenant="acme")
        if number:
            await blobs.delete(f"r{number - 1}")
    await blobs.put("last/in/0", one(b"same"), tenant="acme")
    assert stored(local) == 1


async def test_tenants_never_share(blobs: BlobStore, local: LocalBlobStore) -> None:
    for tenant in ("acme", "globex"):
        await blobs.put(f"{tenant}/in/0", one(b"same"), tenant=tenant)
    assert stored(local) == 2
    assert len({path.name.partition("~")[0] for path in hints(local)}) == 2


async def test_nothing_is_shared_unasked(blobs: BlobStore, local: LocalBlobStore) -> None:
    await blobs.put("r/pages/0.png", one(b"same"))
    await blobs.put("r/pages/1.png", one(b"same"))
    assert stored(local) == 2
    assert hints(local) == []


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


async def test_hints_of_erased_requests_are_swept(blobs: BlobStore, local: LocalBlobStore) -> None:
    await blobs.put("r1/in/0", one(b"gone"), tenant="acme")
    await blobs.put("r2/in/0", one(b"kept"), tenant="acme")
    await blobs.delete("r1")
    await blobs.sweep_scratch(before=YESTERDAY)
    assert [path.name.split("~")[1] for path in hints(local)] == ["r2"]


async def test_hints_of_one_content_are_few(blobs: BlobStore, local: LocalBlobStore) -> None:
    for number in range(20):
        await blobs.put(f"r{number}/in/0", one(b"same"), tenant="acme")
    assert len(hints(local)) == 8
    assert stored(local) == 1


async def test_content_written_over_is_not_taken_for_what_it_was(
    blobs: BlobStore, local: LocalBlobStore
) -> None:
    await blobs.put("r1/in/0", one(b"old!"), tenant="acme")
    await blobs.put("r1/in/0", one(b"new!"), tenant="acme")
    await blobs.put("r2/in/0", one(b"old!"), tenant="acme")
    assert (await blobs.fetch("r1/in/0")).read_bytes() == b"new!"
    assert (await blobs.fetch("r2/in/0")).read_bytes() == b"old!"


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


# --- what may happen in between, and what a file system may refuse ---------------------------------------


def made(folder: Path, name: str, content: bytes = b"same") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


@pytest.fixture
def contents(tmp_path: Path) -> Contents:
    """In which r1 has a file."""
    contents = Contents(tmp_path, tmp_path / ".content")
    with contents.locked("aaaa"):
        contents.remember(made(tmp_path / "r1", "file"), "aaaa", "r1")
    return contents


def test_what_is_linked_is_looked_at_afterwards(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between finding a file and linking to it, its owner puts other content of the same size there."""
    link: Callable[..., None] = os.link

    def linking(source: str, target: Path) -> None:
        made(tmp_path / "other", "file", b"else").replace(source)
        link(source, target)

    monkeypatch.setattr(os, "link", linking)
    mine = made(tmp_path / "mine", "file")
    assert contents.find(mine, "aaaa") is None
    assert [path.name for path in mine.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_erased_in_the_same_moment(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    link: Callable[..., None] = os.link

    def linking(source: str, target: Path) -> None:
        if when == "before":
            shutil.rmtree(tmp_path / "r1")
        link(source, target)
        shutil.rmtree(tmp_path / "r1")

    monkeypatch.setattr(os, "link", linking)
    found = contents.find(made(tmp_path / "mine", "file"), "aaaa")
    if when == "before":
        assert found is None
    else:
        assert found is not None and found.read_bytes() == b"same"


@pytest.mark.parametrize("number", [errno.EMLINK, errno.EPERM, errno.EOPNOTSUPP])
def test_without_links_each_has_a_copy(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    assert contents.find(made(tmp_path / "mine", "file"), "aaaa") is None


def test_damaged_content_is_not_handed_on(contents: Contents, tmp_path: Path) -> None:
    (tmp_path / "r1" / "file").write_bytes(b"cut")
    assert contents.find(made(tmp_path / "mine", "file"), "aaaa") is None
