"""The bucket: objects under a prefix become requests; objects are whole when they can be seen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import PurePosixPath
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote, unquote, urlsplit

import obstore
import orjson
import structlog
from obstore.exceptions import BaseError
from obstore.store import S3Store
from sqlalchemy.exc import SQLAlchemyError

from docproc.app import App
from docproc.doors import notes
from docproc.doors.door import Door
from docproc.doors.inbox import ANSWER, DONE, ERROR, FAILED
from docproc.doors.refusals import PASSING, refusal, wait_seconds
from docproc.doors.turns import Turns
from docproc.engine.blobs import CHUNK
from docproc.engine.blobstores.s3 import credentials
from docproc.engine.store.deliveries import Due
from docproc.errors import ConfigurationError
from docproc.harmless import text_for_logs
from docproc.http.callbacks.schedule import Reply
from docproc.http.callbacks.sender import Posts
from docproc.http.problems import Problem
from docproc.http.reception import Incoming

log = structlog.get_logger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

BATCH, AT_ONCE = 200, 8
_THREADS = 16


class Bucket:
    """One tenant's place in a bucket. obstore is called in threads, as engine/blobstores/s3.py explains."""

    def __init__(self, tenant_id: str, url: str, endpoint: str | None, threads: ThreadPoolExecutor) -> None:
        parts = urlsplit(url)
        self.tenant_id, self.url = tenant_id, url
        self._threads = threads
        found: dict[str, Any] = {**({"endpoint": endpoint} if endpoint else {}), **credentials()}
        self.store = S3Store(
            parts.netloc,
            prefix=parts.path.strip("/") or None,
            client_options={"allow_http": (endpoint or "").startswith("http://"), "connect_timeout": "5s"},
            **found,
        )

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Raises OSError for whatever the store or the way to it says."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, partial(function, *args, **kwargs))
        except BaseError as error:
            raise OSError(f"the bucket cannot be used: {type(error).__name__}") from error

    async def ready(self, limit: int) -> list[dict[str, Any]]:
        """What lies there and was not taken, oldest first."""
        return await self.call(self._ready, limit)

    def _ready(self, limit: int) -> list[dict[str, Any]]:
        found = [dict(one) for page in obstore.list(self.store) for one in page if _may_come(one["path"])]
        found.sort(key=lambda one: (one["last_modified"], one["path"]))
        return found[:limit]

    async def read(self, key: str, e_tag: str | None) -> AsyncIterator[bytes]:
        """Raises FileNotFoundError when it is gone, OSError when it is another object now."""
        found = await self.call(obstore.get, self.store, key)
        if found.meta["e_tag"] != e_tag:
            raise OSError("the object was replaced while it was taken")
        pieces = iter(found.stream(min_chunk_size=CHUNK))
        while piece := await self.call(next, pieces, None):
            yield bytes(piece)

    async def notes(self, key: str) -> bytes | None:
        try:
            found = await self.call(obstore.get, self.store, key + notes.SUFFIX)
        except FileNotFoundError:
            return None
        if found.meta["size"] > notes.LARGEST_BYTES:
            raise Problem(413, "invalid_notes", "the notes beside the file are too large", "Write less")
        return bytes(await self.call(found.bytes))

    async def move(self, key: str, target: str) -> None:
        """Copied before it is removed: what breaks in between is found again, as the same request."""
        try:
            await self.call(obstore.copy, self.store, key, target)
            await self.call(obstore.delete, self.store, key)
        except FileNotFoundError:  # moved before, by a door that was killed then
            pass

    async def free_place(self, key: str) -> str:
        """A name in `done` that no other object has; its answer may still be on its way."""
        found, number = key, 2
        while await self.call(self._is_taken, found):
            whole = PurePosixPath(key)
            found = str(whole.with_name(f"{whole.stem}-{number}{whole.suffix}"))
            number += 1
        return found

    def _is_taken(self, key: str) -> bool:
        for place in (DONE, FAILED):
            try:
                obstore.head(self.store, f"{place}/{key}")
            except FileNotFoundError:
                continue
            return True
        return False

    def address(self, place: str) -> str:
        """Where answers about an object are sent, as its request keeps it."""
        return f"s3://{quote(self.tenant_id, safe='')}/{quote(place)}"

    async def write(self, key: str, text: str) -> None:
        await self.call(obstore.put, self.store, key, text.encode())


class BucketDoor(Door):
    name = "bucket_door"
    channel = "s3"

    def __init__(self, application: App) -> None:
        super().__init__(application)
        threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="bucket")
        application.at_close(partial(threads.shutdown, wait=False))
        endpoint = self.settings.inbox_bucket_endpoint
        self.buckets = {
            tenant: Bucket(tenant, url, endpoint, threads)
            for tenant, url in self.settings.inbox_bucket.items()
        }
        if not self.buckets:
            raise ConfigurationError(
                "no bucket is named", remedy="Set DOCPROC_INBOX_BUCKET=s3://bucket/prefix"
            )
        self._turns = Turns(application.store, application.worker_id)
        # Objects that could not be taken, and until when they are left alone.
        self._waiting: dict[tuple[str, str], float] = {}

    async def run(self) -> None:
        self.is_ready = True
        try:
            while True:
                took = [await self._look(bucket) for bucket in self.buckets.values()]
                if not any(took):
                    await asyncio.sleep(self.settings.inbox_bucket_poll_seconds)
        finally:
            await self._turns.end()

    async def _look(self, bucket: Bucket) -> bool:
        try:
            if not await self._turns.mine(f"door s3 {bucket.tenant_id}"):
                return False
            found = await bucket.ready(BATCH)
        except (SQLAlchemyError, OSError) as error:
            log.warning("door_waits", door=self.name, problem=text_for_logs(error))
            return False
        now = asyncio.get_running_loop().time()
        self._waiting = {key: until for key, until in self._waiting.items() if until > now}
        places = asyncio.Semaphore(AT_ONCE)
        ready = [one for one in found if (bucket.tenant_id, one["path"]) not in self._waiting]
        took = await asyncio.gather(*(self._take(bucket, one, places) for one in ready))
        return any(took)

    async def _take(self, bucket: Bucket, found: dict[str, Any], places: asyncio.Semaphore) -> bool:
        key = found["path"]
        async with places:
            try:
                return await self._taken(bucket, key, found["e_tag"])
            except FileNotFoundError:
                return False
            except (Problem, *PASSING) as error:
                why = refusal(error)
                if why is None:
                    log.warning("door_waits", door=self.name, file=key, problem=text_for_logs(error))
                    until = asyncio.get_running_loop().time() + wait_seconds(error)
                    self._waiting[bucket.tenant_id, key] = until
                    return False
                log.warning("door_refused", door=self.name, file=key, code=why.code)
                place = await bucket.free_place(key)
                await bucket.write(f"{FAILED}/{place}{ERROR}", json.dumps(why.as_json(), ensure_ascii=False))
                await bucket.move(key, f"{FAILED}/{place}")
                return True

    async def _taken(self, bucket: Bucket, key: str, e_tag: str | None) -> bool:
        """Raises FileNotFoundError, and what the reception raises."""
        beside = await bucket.notes(key)
        said = notes.read(beside) if beside is not None else notes.Notes()
        place = await bucket.free_place(key)
        arrival = notes.arrival(
            said,
            channel=self.channel,
            tenant_id=bucket.tenant_id,
            external_id=key,
            workflow=self.settings.door_workflow,
            answer_to=bucket.address(place) if self.settings.door_answers == "on" else None,
        )
        name = key.rpartition("/")[2]
        accepted = await self.reception.take([Incoming(name, bucket.read(key, e_tag))], arrival)
        if not accepted.is_new:
            known = (await self.reception.find(accepted.request_id)).callback_url or ""
            if known.startswith(bucket.address("")):
                place = unquote(urlsplit(known).path.removeprefix("/"))
        await bucket.move(key, f"{DONE}/{place}")
        if beside is not None:
            await bucket.call(obstore.delete, bucket.store, key + notes.SUFFIX)
        return True

    def poster(self) -> tuple[Posts, Sequence[str]] | None:
        return BucketPoster(self.buckets), ["s3://"]


class BucketPoster:
    """Writes answers beside the objects they are about; writing one twice writes the same object again."""

    timeout_seconds = 60.0

    def __init__(self, buckets: dict[str, Bucket]) -> None:
        self.buckets = buckets

    async def post(self, due: Due) -> Reply:
        parts = urlsplit(due.url)
        bucket = self.buckets.get(unquote(parts.netloc))
        if bucket is None:
            return Reply(error=f"there is no bucket of the tenant {parts.netloc}")
        key = unquote(parts.path.removeprefix("/"))
        has_failed = orjson.loads(due.body)["status"] == "failed"
        here, there = (FAILED, DONE) if has_failed else (DONE, FAILED)
        try:
            await bucket.write(f"{here}/{key}{ANSWER}", due.body)
            await bucket.move(f"{there}/{key}", f"{here}/{key}")
            await bucket.call(obstore.delete, bucket.store, f"{there}/{key}{ANSWER}")
        except OSError as error:
            return Reply(error=str(error)[:200])
        return Reply(is_delivered=True)


def _may_come(key: str) -> bool:
    folder, _, _ = key.partition("/")
    name = key.rpartition("/")[2]
    return bool(name) and not (
        folder in (DONE, FAILED) or name.startswith(".") or name.endswith(notes.SUFFIX)
    )
