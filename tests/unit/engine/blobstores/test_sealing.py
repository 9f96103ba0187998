"""Sealed content opens with its key, whole, in order and unchanged; anything else is told, never believed."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from docproc.engine.blobs import CHUNK
from docproc.engine.blobstores.sealing import Keyring, keyring_of
from docproc.errors import ConfigurationError, DamagedBlobError
from tests.harness import settings_for

OLD, NEW = b"o" * 32, b"n" * 32
HEADER = 44
SEALED = CHUNK + 16


async def pieces(content: bytes, size: int = 100_000) -> AsyncIterator[bytes]:
    for place in range(0, len(content), size):
        yield content[place : place + size]


async def sealed(content: bytes, key: bytes = OLD) -> bytes:
    return b"".join([chunk async for chunk in Keyring([key]).seal(pieces(content))])


async def opened(content: bytes, *keys: bytes, allow_plain: bool = False, size: int = 99_991) -> bytes:
    ring = Keyring(keys or [OLD], allow_plain=allow_plain)
    return b"".join([chunk async for chunk in ring.open(pieces(content, size))])


def text(length: int) -> bytes:
    return (b"0123456789abcdef" * (length // 16 + 1))[:length]


@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
async def test_what_is_sealed_opens(length: int) -> None:
    closed = await sealed(text(length))
    assert text(16) not in closed
    assert await opened(closed) == text(length)
    if length <= 1:
        assert await opened(closed, size=1) == text(length)


async def test_nothing_repeats() -> None:
    assert (await sealed(b"same"))[HEADER:] != (await sealed(b"same"))[HEADER:]
    two = await sealed(b"x" * (2 * CHUNK))
    assert two[HEADER : HEADER + 100] != two[HEADER + SEALED : HEADER + SEALED + 100]


@pytest.mark.parametrize(
    "end", [3, 10, HEADER - 1, HEADER, HEADER + 15, HEADER + SEALED, HEADER + 2 * SEALED, -17, -1]
)
async def test_cut_off_is_told(end: int) -> None:
    closed = await sealed(text(2 * CHUNK + 5))
    with pytest.raises(DamagedBlobError):
        await opened(closed[:end])


async def test_moved_repeated_or_left_out_is_told() -> None:
    closed = await sealed(text(3 * CHUNK + 5))
    head, rest = closed[:HEADER], closed[HEADER:]
    one, two, three = rest[:SEALED], rest[SEALED : 2 * SEALED], rest[2 * SEALED :]
    for changed in (two + one + three, one + three, one + one + two + three, one + two + three + three):
        with pytest.raises(DamagedBlobError, match="backup"):
            await opened(head + changed)
    other = await sealed(text(3 * CHUNK + 5))
    with pytest.raises(DamagedBlobError, match="backup"):
        await opened(head + other[HEADER:])  # a chunk of another blob


@pytest.mark.parametrize("place", [5, 20, HEADER, HEADER + 100, HEADER + SEALED - 1, -1])
async def test_changed_is_told(place: int) -> None:
    closed = bytearray(await sealed(text(2 * CHUNK)))
    closed[place] ^= 1
    with pytest.raises(DamagedBlobError):
        await opened(bytes(closed))


async def test_a_new_key_seals_and_old_ones_still_open() -> None:
    before = await sealed(b"old", OLD)
    after = b"".join([chunk async for chunk in Keyring([NEW, OLD]).seal(pieces(b"new"))])
    assert await opened(before, NEW, OLD) == b"old"
    assert await opened(after, NEW) == b"new"
    with pytest.raises(DamagedBlobError, match="DOCPROC_STORAGE_KEY"):
        await opened(before, NEW)


async def test_what_was_stored_before_there_was_a_key_is_read_when_that_is_allowed() -> None:
    for plain in (b"", b"%PDF-1.7", text(2 * CHUNK)):
        with pytest.raises(DamagedBlobError, match="DOCPROC_STORAGE_ALLOW_PLAIN"):
            await opened(plain)
        assert await opened(plain, allow_plain=True) == plain


def test_addresses_tell_nothing_without_the_key() -> None:
    found = {
        Keyring([key]).address(tenant, sha256)
        for key in (OLD, NEW)
        for tenant in ("acme", "globex")
        for sha256 in ("0" * 64, "1" * 64)
    }
    assert len(found) == 8
    assert Keyring([NEW, OLD]).address("acme", "0" * 64) == Keyring([NEW]).address("acme", "0" * 64)


# --- where keys come from -------------------------------------------------------------------------------

GOOD = base64.b64encode(OLD).decode()


async def test_keys_come_from_a_setting_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"{base64.b64encode(NEW).decode()}\n{GOOD}\n")
    closed = await sealed(b"old", OLD)
    for values in (
        {"storage_key": f"{base64.b64encode(NEW).decode()},{GOOD}"},
        {"storage_key_file": tmp_path / "keys"},
    ):
        ring = keyring_of(settings_for(tmp_path, **values))
        assert b"".join([chunk async for chunk in ring.open(pieces(closed))]) == b"old"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"storage_key": "secret-words"}, "base64 of 32 bytes"),
        ({"storage_key": base64.b64encode(b"short").decode()}, "base64 of 32 bytes"),
        ({"storage_key": " , "}, "holds no key"),
        ({"storage_key_file": Path("/nowhere/key")}, "cannot be read"),
        ({"storage_key": GOOD, "storage_key_file": Path("x")}, "both set"),
    ],
)
def test_a_key_that_cannot_be_one_is_told_and_not_repeated(
    tmp_path: Path, values: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said) as told:
        keyring_of(settings_for(tmp_path, **values))
    assert "secret-words" not in str(told.value)
    assert told.value.remedy
