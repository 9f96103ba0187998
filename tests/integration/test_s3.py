"""What a bucket can do to DocProc: refuse, be missing, not answer. Each says what is to be done."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from bench.s3_server import READER, S3Server
from bench.servers import HOST, _free_ports
from docproc.app import App
from docproc.console.servers import gateway
from docproc.engine.blobs import BlobStore
from docproc.engine.blobstores import s3 as module
from docproc.engine.component import NEXT, BaseComponent, Emission
from docproc.engine.message import PipelineMessage
from docproc.errors import ConfigurationError, StorageDownError, UnusableStorageError
from tests.components import PATHS
from tests.harness import Harness, opened, settings_for
from tests.processes import Processes

# One server for all of them.
pytestmark = pytest.mark.xdist_group("s3")

MB = 1024 * 1024


class Fetcher(BaseComponent):
    """Reads the blob that the request names."""

    component_name = "fetcher"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        path = await self.blobs.fetch(message.payload["key"])
        return [(NEXT, message.model_copy(update={"payload": {"size": path.stat().st_size}}))]


async def one(content: bytes = b"x") -> AsyncIterator[bytes]:
    yield content


def blobs_of(folder: Path, settings: dict[str, Any]) -> BlobStore:
    return App(settings_for(folder, **settings)).blobs


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RETRIES", {"max_retries": 0})


async def test_a_missing_bucket_is_told(s3: dict[str, Any], tmp_path: Path) -> None:
    blobs = blobs_of(tmp_path, {**s3, "storage_url": "s3://no-such-bucket-here"})
    with pytest.raises(UnusableStorageError, match="there is no such bucket") as told:
        await blobs.check()
    assert "DOCPROC_STORAGE_URL" in told.value.remedy
    with pytest.raises(UnusableStorageError, match="there is no such bucket"):
        await blobs.put("r/in/0", one())
    assert "no such bucket" in str(await blobs.problem())


@pytest.mark.parametrize(
    ("account", "said"),
    [
        (("nobody", "docproc-secret"), "the access key is not known"),
        (("docproc", "not-it"), "the secret key is wrong"),
        (READER, "access is refused"),
    ],
)
async def test_refused_credentials_are_told(
    s3: dict[str, Any], s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    account: tuple[str, str], said: str,
) -> None:  # fmt: skip
    for name, value in s3_server.environment(*account).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UnusableStorageError, match=said) as told:
        await blobs_of(tmp_path, s3).put("r/in/0", one())
    assert "s3:PutObject" in told.value.remedy
    assert account[1] not in str(told.value)


async def test_a_server_that_does_not_answer_passes(
    s3: dict[str, Any], tmp_path: Path, impatient: None
) -> None:
    nobody = f"http://{HOST}:{_free_ports(1)[0]}"
    blobs = blobs_of(tmp_path, {**s3, "storage_endpoint": nobody})
    for attempt in (blobs.put("r/in/0", one()), blobs.fetch("r/in/0"), blobs.delete("r"), blobs.check()):
        with pytest.raises(StorageDownError) as told:
            await attempt
        assert not told.value.counts_attempt
        assert "\n" not in str(told.value)
    assert await blobs.problem()


async def test_an_address_without_a_bucket_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="s3://bucket"):
        blobs_of(tmp_path, {"storage_url": "s3://"})


async def test_a_broken_large_upload_leaves_no_parts(
    s3: dict[str, Any], s3_server: S3Server, tmp_path: Path
) -> None:
    async def broken() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * MB
        raise ConnectionError("gone")

    before = s3_server.unfinished()
    with pytest.raises(ConnectionError):
        await blobs_of(tmp_path, s3).put("r/in/0", broken())
    assert s3_server.unfinished() == before


async def test_profiles_need_boto3(
    s3: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "work")
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ConfigurationError, match="pip install boto3"):
        blobs_of(tmp_path, s3)


@pytest.fixture
async def engine(s3: dict[str, Any], tmp_path: Path) -> AsyncIterator[Harness]:
    components = {**PATHS, "fetcher": "tests.integration.test_s3.Fetcher"}
    async with opened(settings_for(tmp_path, components=components, **s3)) as harness:
        yield harness


async def test_the_gateway_tells_clients_nothing_of_the_bucket(
    s3: dict[str, Any], tmp_path: Path, impatient: None
) -> None:
    nobody = {"storage_endpoint": f"http://{HOST}:{_free_ports(1)[0]}"}
    for changed in ({"storage_url": "s3://no-such-bucket-here"}, nobody):
        async with opened(settings_for(tmp_path, **{**s3, **changed})) as harness:
            transport = httpx.ASGITransport(gateway(harness.app))
            async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
                refused = await client.post("/process", files={"file": ("a.pdf", b"%PDF-1.7")})
                assert refused.status_code == 503
                assert refused.headers["retry-after"]
                assert refused.json()["error"]["message"] == "the storage of files is out of reach"
                assert (await client.get("/ready")).status_code == 503
            assert await harness.query("SELECT id FROM requests") == []


async def test_work_waits_for_a_storage_that_is_away(
    engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long: no attempt is counted, so nothing is given up."""
    engine.workflow("words", "stages: [{name: fetch, component: fetcher}]\n")
    key = "r/in/0"
    await engine.app.blobs.put(key, one(b"content"))
    running = await engine.start("fetcher")
    blobs = running[0].blobs
    away, asked = True, 0
    version = blobs.version

    async def sometimes(wanted: str) -> str | None:
        nonlocal asked
        asked += 1
        if away:
            raise StorageDownError("gone", delay=0.01)
        return await version(wanted)

    monkeypatch.setattr(blobs, "version", sometimes)
    request_id = await engine.submit("words", key=key)
    await engine.until(lambda: asked >= 8, "it was tried often")
    away = False
    finished = await engine.finished(request_id)
    assert finished.status == "completed"


def test_a_process_that_is_refused_ends_and_says_why(
    embedded: Processes, s3: dict[str, Any], s3_server: S3Server
) -> None:
    embedded.environment |= s3_server.environment()
    values = {"STORAGE_URL": "s3://no-such-bucket-here", "STORAGE_ENDPOINT": s3["storage_endpoint"]}
    ended = embedded.run("worker", "slow", **values)
    assert ended.code == 1
    said = ended.err.splitlines()[-1]  # a slow machine may have logged something before
    assert said.startswith("error: ") and "there is no such bucket" in said


async def test_nothing_waits_for_ever(s3: dict[str, Any], tmp_path: Path) -> None:
    """A process that ends in the middle of an upload ends."""
    async with asyncio.timeout(20):
        upload = asyncio.create_task(blobs_of(tmp_path, s3).put("r/in/0", _endless()))
        await asyncio.sleep(0.3)
        upload.cancel()
        await asyncio.gather(upload, return_exceptions=True)


async def _endless() -> AsyncIterator[bytes]:
    while True:
        yield b"x" * MB
        await asyncio.sleep(0)
