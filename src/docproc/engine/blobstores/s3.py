"""Blobs in an S3-compatible bucket: streamed, in parts where they are large; machines share no disk."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ParamSpec, Self, TypeVar
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from docproc.engine.blobs import CHUNK, Address, check_key, gathered
from docproc.engine.blobstores.cache import Cache
from docproc.engine.blobstores.cached import CachedBlobStore
from docproc.engine.blobstores.s3_trouble import is_missing_bucket, told
from docproc.errors import ConfigurationError, DocProcError
from docproc.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")

# A file up to this size goes in one request; a larger one in parts of it, of which few are in memory at once.
PART_BYTES = 8 * 1024 * 1024
_PARTS_AT_ONCE = 2
_THREADS = 16
_READY_SECONDS = 1.5
# The library repeats what failed on the way; beyond that, the message is tried again later.
_RETRIES: Any = {
    "max_retries": 4,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=2),
        "base": 2,
    },
}


class S3BlobStore(CachedBlobStore):
    """`s3://bucket/prefix`. Content is not shared here: an object cannot be "deleted unless it is needed".

    obstore is called in threads of our own, not by its coroutines: those are woken from a foreign thread,
    which now and then aborts a process that ends just then (PyO3/pyo3-async-runtimes#40).
    """

    def __init__(self, store: S3Store, cache: Cache, place: str) -> None:
        """`place` is what errors call the bucket."""
        super().__init__(cache)
        self.store = store
        self.place = place
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="s3")

    @classmethod
    def create(cls, settings: Settings) -> Self:
        url = urlsplit(settings.storage_url or "")
        if not url.netloc:
            raise ConfigurationError(
                "DOCPROC_STORAGE_URL names no bucket", remedy="Write it as s3://bucket or s3://bucket/prefix"
            )
        endpoint = settings.storage_endpoint
        found: dict[str, Any] = {**({"endpoint": endpoint} if endpoint else {}), **credentials()}
        store = S3Store(
            url.netloc,
            prefix=url.path.strip("/") or None,
            retry_config=_RETRIES,
            client_options={"allow_http": (endpoint or "").startswith("http://"), "connect_timeout": "5s"},
            **found,
        )
        return cls(store, Cache.create(settings), f"s3://{url.netloc}")

    async def write(self, key: str, chunks: AsyncIterable[bytes], address: Address | None = None) -> None:
        parts = gathered(chunks, PART_BYTES)
        first = await anext(parts, b"")
        second = await anext(parts, None) if len(first) >= PART_BYTES else None
        if second is None:
            await self._call(obstore.put, self.store, check_key(key), first, use_multipart=False)
        else:
            await self._write_parts(check_key(key), _Feed(first, second, parts))

    async def _write_parts(self, key: str, feed: _Feed) -> None:
        """Nothing is seen of it before its last part; when the feed fails, its parts are removed again."""
        put = partial(obstore.put, chunk_size=PART_BYTES, max_concurrency=_PARTS_AT_ONCE)
        upload = asyncio.ensure_future(self._call(put, self.store, key, feed))
        try:
            await asyncio.shield(upload)
        except asyncio.CancelledError:
            feed.cut_off()
            await asyncio.wait([upload])
            upload.exception()
            raise

    async def read(self, key: str) -> AsyncIterator[bytes]:
        found = await self._call(obstore.get, self.store, check_key(key))
        pieces = iter(found.stream(min_chunk_size=CHUNK))
        while piece := await self._call(next, pieces, None):
            yield bytes(piece)

    async def version(self, key: str) -> str | None:
        try:
            found = await self._call(obstore.head, self.store, check_key(key))
        except FileNotFoundError:
            return None
        return f"{found['e_tag']}-{found['last_modified'].timestamp()}-{found['size']}"

    async def copy(self, source: str, key: str) -> None:
        await self._call(obstore.copy, self.store, check_key(source), check_key(key))

    async def delete(self, owner: str) -> None:
        await self.forget(owner)
        await self._call(self._delete, check_key(owner))

    def _delete(self, owner: str) -> None:
        for page in obstore.list(self.store, prefix=f"{owner}/"):
            obstore.delete(self.store, [found["path"] for found in page])

    async def owners(self, *, before: datetime) -> AsyncIterator[str]:
        """Objects come in the order of their keys, so all of one owner come together."""
        pages = iter(obstore.list(self.store, chunk_size=1000))
        owner, newest = None, before
        while page := await self._call(next, pages, None):
            for found in page:
                name = found["path"].partition("/")[0]
                if name != owner:
                    if owner is not None and newest < before:
                        yield owner
                    owner, newest = name, found["last_modified"]
                newest = max(newest, found["last_modified"])
        if owner is not None and newest < before:
            yield owner

    async def check(self) -> None:
        """Listing nothing costs little, and tells a missing bucket from a missing blob, as HEAD does not."""
        await self._call(next, iter(obstore.list(self.store, prefix="none/", chunk_size=1)), None)

    async def problem(self) -> str | None:
        try:
            async with asyncio.timeout(_READY_SECONDS):
                await self.check()
        except TimeoutError:
            return "the storage of files does not answer"
        except DocProcError as error:
            return str(error.args[0])
        return await super().problem()

    async def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """In a thread; what the library raises becomes one of our errors."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, partial(function, *args, **kwargs))
        except FileNotFoundError as error:
            if is_missing_bucket(error):
                raise told(error, self.place) from error
            raise FileNotFoundError(f"there is no such blob in {self.place}") from error
        except BaseError as error:
            raise told(error, self.place) from error


class _Feed(Iterator[bytes]):
    """A stream of the event loop, read by the thread that uploads it, part by part."""

    def __init__(self, first: bytes, second: bytes, rest: AsyncIterator[bytes]) -> None:
        self._ready = [second, first]
        self._rest = rest
        self._loop = asyncio.get_running_loop()
        self._waiting: Future[bytes | None] | None = None
        self._is_cut_off = False
        # Between beginning to wait and being able to say so.
        self._lock = threading.Lock()

    def __next__(self) -> bytes:
        if self._ready:
            return self._ready.pop()
        with self._lock:
            if self._is_cut_off:
                raise asyncio.CancelledError
            self._waiting = asyncio.run_coroutine_threadsafe(self._next(), self._loop)
        part = self._waiting.result()
        if part is None:
            raise StopIteration
        return part

    async def _next(self) -> bytes | None:
        return await anext(self._rest, None)

    def cut_off(self) -> None:
        """The thread gets no more, and ends."""
        with self._lock:
            self._is_cut_off = True
            if self._waiting is not None:
                self._waiting.cancel()


def credentials() -> dict[str, Any]:
    """Of the environment, a container or an instance: the library finds those. Profiles are boto3's business.

    AWS_… variables are no settings of ours: every tool reads them by itself.
    """
    if "AWS_PROFILE" not in os.environ:
        return {}
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError as error:
        raise ConfigurationError(
            f"AWS_PROFILE needs {error.name}, which is not installed",
            remedy="Install it with: pip install boto3",
        ) from error
    return {"credential_provider": Boto3CredentialProvider()}
