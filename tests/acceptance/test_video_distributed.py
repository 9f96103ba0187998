"""A film on PostgreSQL and RabbitMQ, with Celery workers, API and monitor as processes of their own."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from standardwebhooks import Webhook

from bench.servers import _free_ports
from bench.video_deployment import PrivateRedis, VideoDeployment, redis_problem, until
from docproc.http.callbacks.signature import key_of, key_of_tenant, new_secret, secret_for
from tests import misbehaving, services
from tests.films import Look, decoded, draw, number_of
from tests.receiver import Receiver, receiving

pytestmark = [pytest.mark.xdist_group("video faults"), pytest.mark.timeout(170)]

FRAMES = 50
SECRET = new_secret()
# Five seconds with one worker, and the deadline is after three.
SLOW = ["--processing", "slow", "--filter", "slow:seconds=0.1"]
FLOW = "name: video\nsla: {deadline_seconds: 3}\nstages:\n  - {name: film, component: film}\n"


@pytest.fixture
def place(tmp_path: Path, postgres_url: str, rabbitmq_url: str) -> Iterator[VideoDeployment]:
    services.require(redis_problem())
    misbehaving.install(tmp_path / "plugins")
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows/video.yaml").write_text(FLOW)
    broker = PrivateRedis(tmp_path)
    with ExitStack() as stack:
        stack.callback(broker.kill)
        broker.start()
        deployment = VideoDeployment(
            tmp_path, broker.url, DATABASE_URL=postgres_url, RABBITMQ_URL=rabbitmq_url, TRANSPORT="rabbitmq",
            DATABASE_CONNECTIONS=3, WORKFLOWS_DIR=tmp_path / "flows", API_PORT=_free_ports(1)[0],
            CALLBACK_SECRET=SECRET, CALLBACK_ALLOW_PRIVATE="true", VIDEO_RATE_LIMIT=0,
        )  # fmt: skip
        stack.callback(deployment.close)
        deployment.worker(1)
        for name in ("sla_monitor", "api_gateway"):
            deployment.component(name)
        deployment.server()
        yield deployment


def _begun(place: VideoDeployment) -> int:
    """How often the servers began a film."""
    return sum(one.said().count('"event":"film_begun"') for one in place.running)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as found:
        yield found


@pytest.fixture
async def api(place: VideoDeployment) -> AsyncIterator[httpx.AsyncClient]:
    address = f"http://127.0.0.1:{place.environment['DOCPROC_API_PORT']}"
    async with httpx.AsyncClient(base_url=address, timeout=10) as client:
        yield client


async def _answer(api: httpx.AsyncClient, path: str) -> Any:
    """Once it is there: the API may still be starting."""
    async with asyncio.timeout(30):
        while True:
            try:
                answer = await api.get(path)
            except httpx.TransportError:
                await asyncio.sleep(0.1)
                continue
            return answer.raise_for_status().json()


async def _wait(condition: Any, what: str) -> None:
    await asyncio.to_thread(until, condition, what)


async def test_film_is_a_request_with_status_events_deadline_and_callbacks(
    place: VideoDeployment, receiver: Receiver, api: httpx.AsyncClient, tmp_path: Path
) -> None:
    """RabbitMQ drops every connection meanwhile and delivers the film again: it is conducted once."""
    await asyncio.to_thread(draw, tmp_path / "film.mp4", Look(frames=FRAMES))
    client = place.sending(tmp_path / "film.mp4", *SLOW, "--callback-url", receiver.url)
    session_id = await asyncio.to_thread(place.new_session)
    await _wait(lambda: place.progress(session_id)["frames_processed"] >= 5, "it is under way")
    vhost = urlsplit(place.environment["DOCPROC_RABBITMQ_URL"]).path[1:]
    dropped = ["rabbitmqctl", "close_all_connections", "--vhost", vhost, "a test of what follows"]
    await asyncio.to_thread(subprocess.run, dropped, check=True, capture_output=True, timeout=60)

    await _wait(lambda: receiver.received, "the deadline is answered")
    under_way = await _answer(api, f"/requests/{session_id}")
    made = await asyncio.to_thread(place.made, client)
    await _wait(lambda: len(receiver.received) == 2, "the whole answer follows")
    for one in receiver.received:
        Webhook(secret_for(key_of_tenant(key_of(SECRET), "default"))).verify(one.body, one.headers)
    partial, whole = (one.said for one in receiver.received)
    missing = partial["result"]["missing"]
    assert (partial["request_id"], partial["partial"]) == (session_id, True)
    assert missing[-1]["unit"].endswith(f"-{FRAMES - 1}") and missing[-1]["reason"] == "queued"
    assert 0 < partial["result"]["metrics"]["frames_processed"] < FRAMES
    assert (whole["result"]["partial"], whole["result"]["missing"]) == (False, [])

    assert under_way["status"] == "sla_breached" and under_way["result"]["partial"] is True
    assert under_way["film"]["frames_total"] == FRAMES
    told = await _answer(api, f"/status/{session_id}")
    assert (told["answer_version"], told["result"]["partial"]) == (2, False) and told["breached_at"]
    events = (await _answer(api, f"/requests/{session_id}/events"))["events"]
    kinds = {(event["kind"], event["outcome"]) for event in events}
    assert ("delivery", "delivered") in kinds and ("status", "filtering") in kinds
    assert sum(event["kind"] == "handled" and event["stage"] == "film" for event in events) == 1
    assert _begun(place) == 1
    assert (made["total_frames"], made["frames_failed"], made["retries"]) == (FRAMES, 0, 0)
    assert [number_of(255 - image) for _, image in decoded(tmp_path / "out.mp4")] == list(range(FRAMES))
