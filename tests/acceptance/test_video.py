"""Films through a real server, real Celery workers, a real Redis and the real client (ACCEPTANCE D1–D20)."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from bench.compose import ComposeFile, Service
from bench.servers import _free_ports
from bench.video_deployment import PrivateRedis, VideoDeployment, redis_problem, until
from docproc.apps.video.filters.chain import requested
from docproc.apps.video.server.protocol import LARGEST_MESSAGE
from tests import services
from tests.films import Look, clicks, decoded, draw, number_of

# Its processes are started once.
pytestmark = [pytest.mark.xdist_group("video"), pytest.mark.timeout(170)]

ROOT = Path(__file__).parents[2]
FRAMES = 300


class ComposedDeployment(VideoDeployment):
    """The services of the compose file as processes, `--scale worker=2`; what all containers have at the same
    port or under the same name is moved."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.compose = ComposeFile(ROOT / "docker-compose.video.yml")
        self.redis = PrivateRedis(folder, self.compose.service("redis").command[1:])
        super().__init__(folder, VIDEO_DATA=folder / "data", HOME=folder / "home")
        (self.preview_port,) = _free_ports(1)
        self.limits = settings
        self.replaced = {
            "9091": str(self.health_port),
            "redis://redis:6379/0": self.redis.url,
            "/app/data": str(self.data),
            "/app/home": self.environment["DOCPROC_HOME"],
            "/tmp/home": str(folder / "nothing is written there"),
            "redis-cli": f"redis-cli -p {self.redis.port}",
            ":8080/health": f":{self.preview_port}/health",
            "worker@": "one@",
        }

    def start_all(self) -> None:
        self.redis.start()
        self.service(self.described("worker"), **self.limits)
        self.service(self.described("worker", **{"worker@": "two@"}), **self.limits)
        self.service(self.described("preview"), VIDEO_PREVIEW_PORT=self.preview_port)
        server = self.service(self.described("server"), VIDEO_PORT=self.port, **self.limits)
        self.until_it_listens(server, self.port)

    def described(self, name: str, **replaced: str) -> Service:
        return self.compose.service(name, {**self.replaced, **replaced})

    def close(self) -> None:
        super().close()
        self.redis.kill()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ComposedDeployment]:
    """As docker-compose.video.yml describes it, with the limits of every deployment but the rate's."""
    services.require(redis_problem())
    # Small, so that a test can send too much; the rate of 64 is for two workers on more cores than CI has.
    limits = {
        "VIDEO_MAX_MB": 300,
        "VIDEO_MAX_SECONDS": 60,
        "VIDEO_MAX_PIXELS": 640 * 480,
        "VIDEO_RATE_LIMIT": 200,
        "VIDEO_FRAMES_IN_FLIGHT": 32,
        "VIDEO_IDLE_SECONDS": 3,
    }
    deployment = ComposedDeployment(tmp_path_factory.mktemp("video"), **limits)
    try:
        deployment.start_all()
        yield deployment
    finally:
        deployment.close()


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("films") / "ball.mp4"
    draw(path, Look(frames=FRAMES))
    return path


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("films") / "short.mp4"
    draw(path, Look(frames=20))
    return path


# --- the whole way ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moved(place: VideoDeployment, film: Path) -> dict[str, Any]:
    """A film of 300 frames, each compared with the one before it, filtered by two workers."""
    return place.send(film, "--processing", "motion", "--ipv6", out=place.folder / "moved.mp4")


def test_film_comes_back_with_metrics(moved: dict[str, Any], place: VideoDeployment) -> None:
    assert moved["total_frames"] == FRAMES and moved["frames_failed"] == 0 and moved["fallback_frames"] == []
    assert moved["worker_count"] == 2 and {name[:3] for name in moved["workers"]} == {"one", "two"}
    assert (moved["fps_input"], moved["fps_output"]) == (30.0, 30.0)
    assert moved["filters_applied"] == ["motion"] and moved["retries"] == 0
    assert moved["processing_time_seconds"] > 0 and moved["fps_processing"] > 0
    assert set(moved["latency_ms"]) == {"p50", "p95", "p99", "avg", "min", "max"}
    assert moved["size_bytes"] == (place.folder / "moved.mp4").stat().st_size


def test_film_has_every_frame_in_order_with_its_own_time(
    moved: dict[str, Any], place: VideoDeployment, film: Path
) -> None:
    before, after = decoded(film), decoded(place.folder / "moved.mp4")
    assert [number_of(image) for _, image in after] == list(range(FRAMES))
    assert [when.seconds for when, _ in after] == pytest.approx([when.seconds for when, _ in before])
    assert after[0][1].shape == before[0][1].shape


def test_every_frame_is_the_one_a_single_process_makes(
    moved: dict[str, Any], place: VideoDeployment, film: Path
) -> None:
    """Also motion, which needs the true frame before: whoever filtered that one."""
    cv2.setNumThreads(1)
    chain, images = requested("motion", [], 8), [image for _, image in decoded(film)]
    folder = place.frames(moved["session_id"])
    for index in range(FRAMES):
        expected = chain.apply(images[max(0, index - 1) : index + 1])
        found = cv2.imread(str(folder / f"frame_{index:06}.png"))
        assert found is not None and np.array_equal(found, expected), index


def test_frames_lie_on_disk_as_specified(moved: dict[str, Any], place: VideoDeployment) -> None:
    folder = place.frames(moved["session_id"])
    names = {path.name for path in folder.iterdir()}
    assert names == {f"frame_{index:06}.{kind}" for index in range(FRAMES) for kind in ("png", "json")}
    facts = json.loads((folder / "frame_000007.json").read_bytes())
    specified = {
        "processing_time_ms",
        "memory_mb",
        "memory_delta_mb",
        "filter_applied",
        "worker_id",
        "hostname",
    }
    assert specified | {"attempts"} <= facts.keys()
    assert facts["filter_applied"] == "motion" and facts["attempts"] == 1
    assert not list((place.films(moved["session_id"]) / "originals").iterdir())


def test_redis_never_has_a_result(moved: dict[str, Any], place: ComposedDeployment) -> None:
    client = place.redis.client()
    assert client.keys("celery-task-meta*") == [] and client.llen("frames") == 0
    told = client.hgetall(f"docproc:video:session:{moved['session_id']}")
    assert (told[b"frames_processed"], told[b"frames_total"]) == (b"300", b"300")
    assert told[b"status"] == b"completed" and float(told[b"fps"]) > 0


def test_sound_stays_with_the_pictures(moved: dict[str, Any], place: VideoDeployment, film: Path) -> None:
    heard, before = clicks(place.folder / "moved.mp4"), clicks(film)
    assert moved["audio"] == "copied" and len(heard) == 10
    assert heard == pytest.approx(before, abs=0.001)


def test_film_plays_in_browsers(moved: dict[str, Any], place: VideoDeployment) -> None:
    """H.264 with colours as browsers take them; its index comes before its pictures."""
    content = (place.folder / "moved.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat") and b"avc1" in content
    import av

    with av.open(str(place.folder / "moved.mp4")) as container:
        assert container.streams.video[0].codec_context.pix_fmt == "yuv420p"


def test_film_is_a_request_of_the_engine(moved: dict[str, Any], place: VideoDeployment) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "docproc", "request", "list", "--json"],
        env=place.environment, cwd=place.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    mine = next(one for one in json.loads(told.stdout) if one["request_id"] == moved["session_id"])
    assert (mine["status"], mine["workflow_name"]) == ("completed", "video")
    assert mine["result"]["metrics"]["total_frames"] == FRAMES and not mine["result"]["partial"]


@pytest.mark.parametrize("name", ["redis", "server", "worker", "preview"])
def test_health_checks_of_the_compose_file_find_its_services_well(
    name: str, moved: dict[str, Any], place: ComposedDeployment
) -> None:
    service = place.described(name)
    told = " ".join(service.health) if name == "redis" else service.health
    done = subprocess.run(
        told, shell=name == "redis", env={**place.machine, **service.environment}, cwd=place.folder,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_preview_shows_what_the_other_services_made(moved: dict[str, Any], place: ComposedDeployment) -> None:
    address = f"http://localhost:{place.preview_port}"
    with urllib.request.urlopen(f"{address}/session/{moved['session_id']}/status", timeout=10) as answer:
        told = json.load(answer)
    assert (told["status"], told["frames_processed"]) == ("completed", FRAMES)
    with urllib.request.urlopen(f"{address}/session/{moved['session_id']}/frame/7", timeout=10) as answer:
        assert answer.read() == (place.frames(moved["session_id"]) / "frame_000007.png").read_bytes()
    other = urllib.request.Request(f"{address}/sessions", headers={"Host": "elsewhere.example"})
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(other, timeout=10)


# --- clients ----------------------------------------------------------------------------------------------


def test_several_clients_over_both_families(place: VideoDeployment, short: Path) -> None:
    given = [("--ipv4", "blur"), ("--ipv6", "edges"), ("--ipv4", "grayscale"), ("--ipv6", "faces")]
    with ThreadPoolExecutor(4) as pool:
        made = list(
            pool.map(
                lambda one: place.send(
                    short, one[0], "--processing", one[1], out=place.folder / f"{one[1]}.mp4"
                ),
                given,
            )
        )
    assert [one["filters_applied"] for one in made] == [[name] for _, name in given]
    assert len({one["session_id"] for one in made}) == 4
    assert all(len(decoded(place.folder / f"{name}.mp4")) == 20 for _, name in given)


def test_chain_of_filters_in_order(place: VideoDeployment, short: Path) -> None:
    chain = [
        "--filter",
        "resize:width=160",
        "--filter",
        "blur:kind=median,size=5",
        "--filter",
        "watermark:text=Hi",
    ]
    made = place.send(short, "--processing", "custom", *chain, out=place.folder / "chain.mp4")
    assert made["filters_applied"] == ["resize", "blur", "watermark"]
    assert (made["width"], made["height"]) == (160, 90)
    assert decoded(place.folder / "chain.mp4")[0][1].shape == (90, 160, 3)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (["--processing", "sepia"], "unknown_filter"),
        (["--processing", "blur", "--filter", "blur:size=4"], "bad_parameters"),
        (["--processing", "custom"], "bad_parameters"),
        (["--codec", "divx"], "unsupported_codec"),
    ],
)
def test_client_is_told_what_is_wrong(
    said: list[str], code: str, place: VideoDeployment, short: Path
) -> None:
    client = place.sending(short, *said, out=place.folder / "never.mp4")
    out, err = client.communicate(timeout=30)
    assert client.returncode == 1 and out == "" and f"error: {code}: " in err
    assert not (place.folder / "never.mp4").exists()


def test_client_says_when_there_is_no_server(place: VideoDeployment, short: Path) -> None:
    client = place.sending(short, "--port", "1")
    _, err = client.communicate(timeout=30)
    assert client.returncode == 1 and "no video server answers" in err


# --- the protocol -----------------------------------------------------------------------------------------


class Wire:
    """A client that says what it likes."""

    def __init__(self, place: VideoDeployment) -> None:
        self.socket = socket.create_connection(("127.0.0.1", place.port), 10)

    def say(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        self.socket.sendall(struct.pack(">I", len(body)) + body)

    def hear(self) -> dict[str, Any]:
        length = struct.unpack(">I", self._exactly(4))[0]
        found: dict[str, Any] = json.loads(self._exactly(length))
        return found

    def hear_end(self) -> dict[str, Any]:
        """The result or the error, after any number of progress messages."""
        while (message := self.hear())["type"] == "progress":
            pass
        return message

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            piece = self.socket.recv(count - len(found))
            assert piece, "the server closed the connection"
            found += piece
        return found

    def is_closed(self) -> bool:
        return self.socket.recv(1) == b""


@pytest.fixture
def dial(place: VideoDeployment) -> Iterator[Callable[[], Wire]]:
    """Connections that end with the test."""
    made: list[Wire] = []

    def connect() -> Wire:
        made.append(Wire(place))
        return made[-1]

    yield connect
    for wire in made:
        wire.socket.close()


def handshake(content: bytes, **more: Any) -> dict[str, Any]:
    info = {"filename": "a.mp4", "size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    said = {"type": "handshake", "version": 1, "mode": "process", "codec": "h264", "processing": "edges"}
    return {**said, "filters": [], "video_info": info, **more}


def test_protocol_as_specified(dial: Callable[[], Wire], film: Path) -> None:
    wire, content = dial(), film.read_bytes()
    wire.say(handshake(content))
    accepted = wire.hear()
    assert accepted["type"] == "handshake_ack" and accepted["accepted"] is True
    assert accepted["preview_url"] == f"http://localhost:8080/session/{accepted['session_id']}"
    wire.socket.sendall(content)
    heard = []
    while (message := wire.hear())["type"] == "progress":
        heard.append(message)
    assert {"frames_processed", "frames_total", "fps", "eta_seconds"} <= heard[-1].keys()
    counts = [one["frames_processed"] for one in heard]
    assert counts == sorted(counts) and any(0 < one < FRAMES for one in counts)
    assert message["type"] == "result" and message["ok"] is True
    assert {"output_path", "size_bytes", "metrics"} <= message.keys()
    made = wire._exactly(message["size_bytes"])
    assert made == Path(message["output_path"]).read_bytes() and wire.is_closed()


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (struct.pack(">I", LARGEST_MESSAGE + 1), "message_too_large"),
        (struct.pack(">I", 0), "message_too_large"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "message_too_large"),
        (struct.pack(">I", 4) + b"\xff\xfe{}", "bad_message"),
        (struct.pack(">I", 2) + b"[]", "bad_message"),
        (struct.pack(">I", 17) + b'{"type": "hello"}', "bad_message"),
    ],
)
def test_garbage_gets_an_error_and_the_end(sent: bytes, code: str, dial: Callable[[], Wire]) -> None:
    wire = dial()
    wire.socket.sendall(sent)
    error = wire.hear()
    assert (error["type"], error["code"], error["recoverable"]) == ("error", code, False)
    assert wire.is_closed()


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"version": 99}, "unsupported_version"),
        ({"processing": "nothing"}, "unknown_filter"),
        ({"processing": "custom", "filters": ["blur"] * 9}, "too_many_filters"),
        ({"video_info": {"size_bytes": 10**12}}, "film_too_large"),
        ({"video_info": {}}, "bad_message"),
        ({"session_id": "6d1f6bb4-2f1c-4c8a-9f64-0c4d53f9a9a5"}, "unknown_session"),
        ({"session_id": "../../etc"}, "bad_message"),
        ({"workflow": "default"}, "bad_parameters"),
        ({"workflow": "nowhere"}, "bad_parameters"),
        ({"callback_url": "http://127.0.0.1:1/"}, "bad_parameters"),
    ],
)
def test_handshake_that_cannot_be_is_refused(
    more: dict[str, Any], code: str, dial: Callable[[], Wire]
) -> None:
    wire = dial()
    wire.say(handshake(b"x", **more))
    assert wire.hear()["code"] == code and wire.is_closed()


@pytest.mark.parametrize(
    ("look", "code"),
    [
        (Look(frames=2, width=800, height=600), "resolution_too_large"),
        (Look(frames=31, fps=0.5), "film_too_long"),
    ],
)
def test_film_beyond_the_limits_is_refused(
    look: Look, code: str, place: VideoDeployment, tmp_path: Path
) -> None:
    draw(tmp_path / "large.mp4", look)
    client = place.sending(tmp_path / "large.mp4")
    _, err = client.communicate(timeout=30)
    assert client.returncode == 1 and f"error: {code}: " in err


def _answer_to(dial: Callable[[], Wire], content: bytes, **more: Any) -> dict[str, Any]:
    wire = dial()
    wire.say(handshake(content, **more))
    assert wire.hear()["type"] == "handshake_ack"
    wire.socket.sendall(content)
    return wire.hear_end()


def test_broken_films_have_a_defined_end(dial: Callable[[], Wire], film: Path) -> None:
    content = film.read_bytes()
    assert _answer_to(dial, b"no film at all" * 100)["code"] == "corrupt_video"
    half = content[: len(content) // 2]  # its index is at the end
    assert _answer_to(dial, half)["code"] == "corrupt_video"
    assert _answer_to(dial, b"")["code"] == "no_frames"
    damaged = bytearray(content)
    middle = len(damaged) // 3
    damaged[middle : middle + 4000] = b"\0" * 4000
    answer = _answer_to(dial, bytes(damaged))  # what can be decoded is a film; the rest is counted
    assert answer["type"] == "result"
    assert answer["metrics"]["total_frames"] + answer["metrics"]["frames_undecodable"] == FRAMES


def test_film_without_frames_is_refused(dial: Callable[[], Wire], tmp_path: Path) -> None:
    import av

    with av.open(str(tmp_path / "mute.mp4"), "w") as container:
        audio: Any = container.add_stream("aac", rate=44100, layout="mono")
        for at in range(20):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
            frame.rate, frame.pts = 44100, at * 1024
            container.mux(audio.encode(frame))
        container.mux(audio.encode(None))
    assert _answer_to(dial, (tmp_path / "mute.mp4").read_bytes())["code"] == "no_frames"


def test_wrong_checksum_is_refused(dial: Callable[[], Wire], short: Path) -> None:
    content = short.read_bytes()
    info = {"filename": "a.mp4", "size_bytes": len(content), "sha256": "0" * 64}
    answer = _answer_to(dial, content, video_info=info)
    assert (answer["code"], answer["recoverable"]) == ("checksum_mismatch", True)


def test_upload_that_broke_off_is_resumed(
    place: VideoDeployment, dial: Callable[[], Wire], short: Path
) -> None:
    content = short.read_bytes()
    half = len(content) // 2
    wire = dial()
    wire.say(handshake(content))
    session_id = wire.hear()["session_id"]
    wire.socket.sendall(content[:half])
    until(lambda: (place.films(session_id) / "input.part").stat().st_size == half, "half of it is there")
    wire.socket.close()
    again = dial()
    again.say(handshake(content, session_id=session_id))
    accepted = again.hear()
    assert (accepted["session_id"], accepted["offset"]) == (session_id, half)
    again.socket.sendall(content[half:])
    assert again.hear_end()["metrics"]["total_frames"] == 20


def test_resumed_upload_takes_over_from_a_connection_that_hangs(
    place: VideoDeployment, dial: Callable[[], Wire], short: Path
) -> None:
    content, hanging = short.read_bytes(), dial()
    hanging.say(handshake(content))
    session_id = hanging.hear()["session_id"]
    hanging.socket.sendall(content[:1000])
    until(lambda: (place.films(session_id) / "input.part").stat().st_size == 1000, "a part is there")
    made = place.send(short, "--session", session_id, "--processing", "edges")
    assert (made["session_id"], made["total_frames"]) == (session_id, 20)
    assert hanging.hear()["code"] in ("taken_over", "timed_out"), "the latter just before"


def test_client_that_went_away_finds_its_film_later(
    place: VideoDeployment, dial: Callable[[], Wire], short: Path
) -> None:
    content, wire = short.read_bytes(), dial()
    wire.say(handshake(content))
    session_id = wire.hear()["session_id"]
    wire.socket.sendall(content)
    assert wire.hear()["type"] == "progress"
    wire.socket.close()
    made = place.send(short, "--session", session_id, "--processing", "edges")
    assert (made["session_id"], made["total_frames"]) == (session_id, 20)


def test_slow_and_silent_clients_harm_nobody(
    place: VideoDeployment, dial: Callable[[], Wire], short: Path
) -> None:
    content = short.read_bytes()
    silent, slow = dial(), dial()
    slow.say(handshake(content))
    assert slow.hear()["type"] == "handshake_ack"
    started = time.monotonic()
    assert place.send(short)["total_frames"] == 20
    assert time.monotonic() - started < 30
    assert slow.hear()["code"] == "timed_out", "after DOCPROC_VIDEO_IDLE_SECONDS"
    silent.socket.close()


def test_memory_does_not_grow_with_the_film(place: VideoDeployment, dial: Callable[[], Wire]) -> None:
    server = next(one for one in place.running if one.log.name.startswith("server"))
    before = server.tree()[0].memory_info().rss
    content, most = b"\0" * (1 << 20), before
    wire = dial()
    info = {"filename": "zeros.mp4", "size_bytes": 250 << 20}
    wire.say(handshake(b"", video_info=info))
    assert wire.hear()["type"] == "handshake_ack"
    for _ in range(250):
        wire.socket.sendall(content)
        most = max(most, server.tree()[0].memory_info().rss)
    assert wire.hear_end()["code"] == "corrupt_video"
    assert most - before < 40 << 20, f"{(most - before) >> 20} MB more for a film of 250 MB"


def test_in_flight_frames_are_bounded(place: VideoDeployment, film: Path) -> None:
    before = place.sessions()
    client = place.sending(film, "--processing", "blur", "--filter", "blur:kind=median,size=15")
    session_id = place.new_session(before)
    most = 0
    while client.poll() is None:
        with_originals = place.films(session_id) / "originals"
        most = max(most, len(list(with_originals.glob("frame_*.bmp"))))
        time.sleep(0.02)
    assert place.made(client)["total_frames"] == FRAMES
    assert 0 < most <= 32 + 1, "VIDEO_FRAMES_IN_FLIGHT is 32"


def test_nothing_but_json_is_read_from_the_wire(place: ComposedDeployment, short: Path) -> None:
    """A pickle in the queue is refused, and the worker goes on."""
    import base64
    import pickle

    client = place.redis.client()
    marker = place.folder / "executed"

    class Harmful:
        """Makes a file when it is read."""

        def __reduce__(self) -> Any:
            return open, (str(marker), "w")

    body = base64.b64encode(pickle.dumps(Harmful())).decode()
    pickle.loads(base64.b64decode(body)).close()
    assert marker.exists(), "else this shows nothing"
    marker.unlink()
    delivery = {"exchange": "", "routing_key": "frames"}
    envelope = {
        "body": body,
        "content-encoding": "binary",
        "content-type": "application/x-python-serialize",
        "headers": {"id": "1", "task": "docproc.video.frame", "lang": "py", "argsrepr": "", "kwargsrepr": ""},
        "properties": {"delivery_mode": 2, "delivery_info": delivery, "priority": 0, "delivery_tag": "1",
                       "body_encoding": "base64"},
    }  # fmt: skip
    client.lpush("frames", json.dumps(envelope))
    assert place.send(short)["total_frames"] == 20
    logs = "".join(one.said() for one in place.running if one.log.name.startswith("worker"))
    assert re.search("[Rr]efusing to deserialize", logs) and not marker.exists()
