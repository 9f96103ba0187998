"""Sealing: a stream becomes one that only the keys open, and that opens only whole, in order and unchanged.

    header   "DPB1", the key's id (8 bytes), a salt (32 bytes)
    chunks   1 MiB of the content each, the last one shorter or empty: AES-256-GCM, so 16 bytes longer

Each blob has a key of its own, made from the key and the salt (HKDF-SHA256), so that a nonce may simply
count: eleven bytes of the chunk's number and one that says whether it is the last. That is the STREAM
construction (Hoang, Reyhanitabar, Rogaway, Vizár 2015): a chunk moved, left out or cut off at the end does
not open. The header is authenticated with every chunk.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from docproc.engine.blobs import CHUNK
from docproc.errors import ConfigurationError, DamagedBlobError
from docproc.settings import Settings

MAGIC = b"DPB1"
KEY_BYTES = 32
_ID_BYTES = 8
_SALT_BYTES = 32
_HEADER_BYTES = len(MAGIC) + _ID_BYTES + _SALT_BYTES
_TAG_BYTES = 16
_MAKE = "this makes one: openssl rand -base64 32"


class Keyring:
    """The first key seals, all of them open: a new key is put in front, and the old ones stay behind it."""

    def __init__(self, keys: Iterable[bytes], *, allow_plain: bool = False) -> None:
        found = list(keys)
        self._keys = {_id(key): key for key in found}
        self._first = found[0]
        # Content without the header passes as it is: stored before there was a key.
        self.allow_plain = allow_plain

    def seal(self, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        return _seal(self._first, chunks)

    def open(self, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Raises DamagedBlobError, at the latest at the end: until then nothing of it is to be believed."""
        return _open(self, chunks)

    def address(self, tenant: str, sha256: str) -> str:
        """Keyed: without the key nobody can tell whether a file he has is stored here, too."""
        key = _derive(self._first, tenant.encode(), b"docproc address")
        return hmac.new(key, sha256.encode(), hashlib.sha256).hexdigest()

    def find(self, key_id: bytes) -> bytes:
        try:
            return self._keys[key_id]
        except KeyError:
            raise DamagedBlobError(
                f"a stored file is encrypted with the key {key_id.hex()}, which is not known here",
                remedy="Put that key behind the others in DOCPROC_STORAGE_KEY or DOCPROC_STORAGE_KEY_FILE",
            ) from None


def keyring_of(settings: Settings) -> Keyring:
    """Keys of the settings, separated by commas or lines. Raises ConfigurationError."""
    if settings.storage_key is not None and settings.storage_key_file is not None:
        raise ConfigurationError(
            "DOCPROC_STORAGE_KEY and DOCPROC_STORAGE_KEY_FILE are both set", remedy="Set one of them"
        )
    if settings.storage_key is not None:
        where, text = "DOCPROC_STORAGE_KEY", settings.storage_key.get_secret_value()
    else:
        where, text = "DOCPROC_STORAGE_KEY_FILE", _text(Path(str(settings.storage_key_file)).expanduser())
    words = text.replace(",", "\n").split()
    if not words:
        raise ConfigurationError(f"{where} holds no key", remedy=f"Put one in; {_MAKE}")
    return Keyring([_key(word, where) for word in words], allow_plain=settings.storage_allow_plain)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"DOCPROC_STORAGE_KEY_FILE cannot be read: {error}", remedy=f"Make it a file of keys; {_MAKE}"
        ) from error


def _key(word: str, where: str) -> bytes:
    try:
        key = base64.b64decode(word, validate=True)
    except binascii.Error:
        key = b""
    if len(key) != KEY_BYTES:  # the word itself is never repeated: it may be almost right
        raise ConfigurationError(f"{where} holds a key that is not the base64 of 32 bytes", remedy=_MAKE)
    return key


def _id(key: bytes) -> bytes:
    """By which a key is found, and from which it cannot be."""
    return hashlib.sha256(b"docproc key id\0" + key).digest()[:_ID_BYTES]


def _derive(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=purpose).derive(key)


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])


async def _seal(key: bytes, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    header = MAGIC + _id(key) + os.urandom(_SALT_BYTES)
    cipher = AESGCM(_derive(key, header[-_SALT_BYTES:], b"docproc blob"))
    yield header
    number = 0
    async for chunk, is_last in _cut(chunks, CHUNK):
        yield await asyncio.to_thread(cipher.encrypt, _nonce(number, is_last=is_last), chunk, header)
        number += 1


async def _open(keys: Keyring, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    header, rest = await _beheaded(chunks)
    if not header.startswith(MAGIC):
        if not keys.allow_plain:
            raise DamagedBlobError(
                "a stored file is not encrypted",
                remedy="If it was stored before there was a key, set DOCPROC_STORAGE_ALLOW_PLAIN=true",
            )
        yield header
        async for chunk in rest:
            yield chunk
        return
    if len(header) < _HEADER_BYTES:
        raise _damaged()
    key = keys.find(header[len(MAGIC) : -_SALT_BYTES])
    cipher = AESGCM(_derive(key, header[-_SALT_BYTES:], b"docproc blob"))
    number = 0
    async for chunk, is_last in _cut(rest, CHUNK + _TAG_BYTES):
        try:
            yield await asyncio.to_thread(cipher.decrypt, _nonce(number, is_last=is_last), chunk, header)
        except InvalidTag:
            raise _damaged() from None
        number += 1


def _damaged() -> DamagedBlobError:
    return DamagedBlobError(
        "a stored file was changed or cut off: it does not open", remedy="Restore it from a backup"
    )


async def _beheaded(chunks: AsyncIterable[bytes]) -> tuple[bytes, AsyncIterator[bytes]]:
    """The header, shorter where the content is, and what comes after it."""
    source = aiter(chunks)
    begun = b""
    while len(begun) < _HEADER_BYTES and (chunk := await anext(source, None)) is not None:
        begun += chunk

    async def rest() -> AsyncIterator[bytes]:
        yield begun[_HEADER_BYTES:]
        async for chunk in source:
            yield chunk

    return begun[:_HEADER_BYTES], rest()


async def _cut(chunks: AsyncIterable[bytes], size: int) -> AsyncIterator[tuple[bytes, bool]]:
    """Pieces of exactly that size and a last one, marked, which is shorter, or empty after none."""
    held = bytearray()
    async for chunk in chunks:
        held += chunk
        while len(held) > size:  # only what something follows is certain not to be the last
            yield bytes(held[:size]), False
            del held[:size]
    yield bytes(held), True
