"""The bucket as a way in, on a real S3 server."""

from __future__ import annotations

import asyncio
import json
import secrets
from pathlib import Path
from typing import Any

import obstore
import pytest

from bench.s3_server import S3Server
from docproc.doors.bucket import Bucket, BucketDoor
from docproc.engine.store.columns import as_uuid
from tests.doors import PDF, Standing, another, standing, until_left
from tests.harness import opened, settings_for


@pytest.fixture
def place(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
    return {
        "inbox_bucket": {"default": f"s3://{s3_server.bucket}/in/{secrets.token_hex(6)}"},
        "inbox_bucket_endpoint": s3_server.url,
        "inbox_bucket_poll_seconds": 0.1,
    }


def keys_of(bucket: Bucket) -> set[str]:
    return {one["path"] for page in obstore.list(bucket.store) for one in page}


def bucket_of(door: Any) -> Bucket:
    assert isinstance(door, BucketDoor)
    return door.buckets["default"]


async def put(bucket: Bucket, key: str, content: bytes) -> None:
    await asyncio.to_thread(obstore.put, bucket.store, key, content)


async def test_object_becomes_a_request_and_its_answer_lies_beside_it(
    tmp_path: Path, place: dict[str, Any]
) -> None:
    async with standing(tmp_path, "bucket_door", **place) as here:
        bucket = bucket_of(here.door)
        await put(bucket, "2026/x.pdf.json", b'{"metadata": {"customer": "ACME"}}')
        await put(bucket, "2026/x.pdf", PDF)
        (row,) = await here.until_requests(1)
        assert (row.channel, row.external_id) == ("s3", "2026/x.pdf")
        assert json.loads(row.metadata) == {"customer": "ACME"} and await here.blob(row) == PDF
        await here.engine.until(lambda: keys_of(bucket) == {"done/2026/x.pdf"}, "it was moved")
        await here.finish(as_uuid(row.id))
        answer = "done/2026/x.pdf.answer.json"
        await here.engine.until(lambda: answer in keys_of(bucket), "the answer was written")
        said = json.loads(bytes(obstore.get(bucket.store, answer).bytes()))
        assert said["status"] == "completed"
        await put(bucket, "2026/x.pdf", PDF)  # sent twice
        await here.engine.until(lambda: keys_of(bucket) == {"done/2026/x.pdf", answer}, "it was moved again")
        assert len(await here.requests()) == 1


async def test_what_cannot_be_taken_says_why_and_half_an_upload_is_nothing(
    tmp_path: Path, place: dict[str, Any]
) -> None:
    async with standing(tmp_path, "bucket_door", **place) as here:
        bucket = bucket_of(here.door)

        def broken() -> Any:
            yield PDF * 400_000  # some parts of a large upload
            raise ConnectionError("the client is gone")

        with pytest.raises(Exception, match="gone"):
            await asyncio.to_thread(obstore.put, bucket.store, "half.pdf", broken(), chunk_size=6 * 1024**2)
        await put(bucket, "empty.pdf", b"")
        told = "failed/empty.pdf.error.json"
        await here.engine.until(lambda: told in keys_of(bucket), "it was refused")
        assert json.loads(bytes(obstore.get(bucket.store, told).bytes()))["error"]["code"] == "empty_file"
        assert await here.requests() == [] and "half.pdf" not in keys_of(bucket)


async def test_door_killed_after_the_commit_takes_nothing_twice(
    tmp_path: Path, place: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(settings_for(tmp_path, **place)) as engine:
        dying = asyncio.Event()

        async def die(_bucket: Bucket, _key: str, _target: str) -> None:
            dying.set()
            raise RuntimeError("the process ends here")

        with monkeypatch.context() as patching:
            patching.setattr(Bucket, "move", die)
            async with another(engine, "bucket_door") as door:
                await put(bucket_of(door), "x.pdf", PDF)
                await asyncio.wait_for(dying.wait(), 30)
                await until_left(engine)
        async with another(engine, "bucket_door") as door:
            await engine.until(lambda: keys_of(bucket_of(door)) == {"done/x.pdf"}, "it was moved", 40)
            assert len(await Standing(engine, door).requests()) == 1
