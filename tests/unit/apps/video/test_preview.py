"""The preview's addresses, on a folder with sessions at different stages."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from flask.testing import FlaskClient
from PIL import Image

from docproc.apps.video.frames.files import FrameFiles, Originals
from docproc.apps.video.frames.job import Job, give_up
from docproc.apps.video.preview.app import MOST_STREAMS, create_app
from docproc.apps.video.preview.pictures import spread
from docproc.apps.video.progress import Progress
from docproc.apps.video.sessions import Session, Sessions
from tests.films import Look, draw, number_of, picture

LOOK = Look(frames=12)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Six frames of twelve are done."""
    made = Sessions(tmp_path).of(uuid4())
    made.make()
    times = _draw(made, tmp_path)
    files = FrameFiles(made.frames)
    for index in range(6):
        files.write(index, 255 - picture(index, LOOK), {"seconds": times[index]})
    say(made, "processing", 6)
    return made


def _draw(session: Session, folder: Path) -> list[float]:
    times = draw(folder / "film.mp4", LOOK)
    (folder / "film.mp4").rename(session.film)
    return times


def say(session: Session, status: str, done: int) -> None:
    progress = Progress(str(session.session_id), "ball.mp4", [{"name": "edges"}], status, done, 12)
    session.say("progress", progress.snapshot())


@pytest.fixture
def client(session: Session, tmp_path: Path) -> Iterator[FlaskClient]:
    app = create_app(Sessions(tmp_path), ["localhost"])
    yield app.test_client()
    app.extensions["preview"].originals.close()


def test_sessions_and_status(client: FlaskClient, session: Session) -> None:
    (listed,) = client.get("/sessions").get_json()["sessions"]
    assert (listed["filename"], listed["status"], listed["frames_processed"]) == ("ball.mp4", "processing", 6)
    told = client.get(f"/session/{session.session_id}/status").get_json()
    assert {"fps", "eta_seconds", "workers", "history", "filters"} <= told.keys()


def test_frames_before_and_after(client: FlaskClient, session: Session) -> None:
    base = f"/session/{session.session_id}"
    with client.get(f"{base}/frame/3") as frame:
        assert frame.mimetype == "image/png"
        assert number_of(255 - np.asarray(Image.open(io.BytesIO(frame.data)))) == 3
    small = Image.open(io.BytesIO(client.get(f"{base}/frame/3?width=100").data))
    assert small.size == (100, 56)
    before = client.get(f"{base}/original/3")
    assert before.mimetype == "image/jpeg"
    assert number_of(np.asarray(Image.open(io.BytesIO(before.data)))) == 3, "decoded from the film"
    Originals(session.originals).write(5, picture(5, LOOK))
    assert number_of(np.asarray(Image.open(io.BytesIO(client.get(f"{base}/original/5").data)))) == 5
    assert client.get(f"{base}/frame/6").status_code == 404
    assert client.get(f"{base}/original/11").status_code == 404
    Originals(session.originals).write(11, picture(11, LOOK))
    assert client.get(f"{base}/original/11").status_code == 200, "that it was not there is not remembered"


def test_frame_that_failed_is_shown_as_the_original_that_is_in_the_film(
    client: FlaskClient, session: Session
) -> None:
    job = Job(session_id=session.session_id, index=7, filters=[{"name": "edges"}], seconds=7 / 30)
    give_up(session.films.parents[1], job, ValueError("no"))
    for address in ("frame/7", "frame/7?width=320", "original/7"):
        answer = client.get(f"/session/{session.session_id}/{address}")
        assert number_of(np.asarray(Image.open(io.BytesIO(answer.data)))) == 7, address


def test_moving_summary(client: FlaskClient, session: Session) -> None:
    made = client.get(f"/session/{session.session_id}/preview.gif")
    image = Image.open(io.BytesIO(made.data))
    assert made.mimetype == "image/gif" and image.n_frames == 6  # type: ignore[attr-defined] # of a GIF


def test_stream_ends_with_the_film(client: FlaskClient, session: Session) -> None:
    answer = client.get(f"/session/{session.session_id}/stream", buffered=False)
    assert answer.mimetype == "text/event-stream"
    stream = iter(answer.response)
    first = next(stream)
    text = first.decode() if isinstance(first, bytes) else str(first)
    assert text.startswith("event: progress") and json.loads(text.split("data: ")[1])["frames_processed"] == 6
    threading.Timer(0.2, say, (session, "completed", 12)).start()
    rest = b"".join(one if isinstance(one, bytes) else str(one).encode() for one in stream).decode()
    assert rest.rstrip().rsplit("event: ", 1)[1].startswith("completed")


def test_too_many_followers_are_refused(client: FlaskClient, session: Session) -> None:
    address = f"/session/{session.session_id}/stream"
    held = [client.get(address, buffered=False) for _ in range(MOST_STREAMS)]
    for one in held:
        next(iter(one.response))
    assert client.get(address).status_code == 503
    for one in held:
        one.close()
    say(session, "completed", 12)
    assert client.get(address).status_code == 200


def test_film_can_be_played_and_loaded(client: FlaskClient, session: Session) -> None:
    address = f"/session/{session.session_id}/output.mp4"
    assert client.get(address).status_code == 404
    session.output.write_bytes(b"0123456789")
    with client.get(address, headers={"Range": "bytes=2-4"}) as part:
        assert (part.status_code, part.data) == (206, b"234")
    with client.get(f"{address}?download") as loaded:
        assert "attachment; filename=ball.mp4" in loaded.headers["Content-Disposition"]


@pytest.mark.parametrize(
    "path",
    [
        "/session/6d1f6bb4-2f1c-4c8a-9f64-0c4d53f9a9a5/status",
        "/session/..%2f..%2f..%2fetc/frame/0",
        "/session/%2e%2e/status",
        "/session/nobody/stream",
        "/session/nobody/preview.gif",
        "/session/nobody",
        "/nothing",
    ],
)
def test_what_is_not_there_is_404(path: str, client: FlaskClient) -> None:
    answer = client.get(path)
    assert answer.status_code == 404 and answer.get_json()["error"]["message"]


def test_frame_numbers_are_numbers(client: FlaskClient, session: Session) -> None:
    (session.frames / "secret.png").write_bytes(b"x")
    for name in ("..%2fsecret", "-1", "secret", "0x1"):
        assert client.get(f"/session/{session.session_id}/frame/{name}").status_code == 404


@pytest.mark.parametrize(("language", "word"), [("en", "Sessions"), ("es", "Sesiones")])
def test_page_speaks_both_languages(language: str, word: str, client: FlaskClient) -> None:
    page = client.get("/", query_string={"lang": language})
    assert page.headers["Content-Language"] == language and f">{word}</h2>" in page.text
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    again = client.get("/", headers={"Accept-Language": "fr"})
    assert again.headers["Content-Language"] == language, "remembered"


def test_other_names_are_not_answered(client: FlaskClient) -> None:
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400


def test_frames_are_spread_evenly() -> None:
    assert spread(3, 5) == [0, 1, 2] and spread(0, 5) == []
    assert spread(101, 5) == [0, 25, 50, 75, 100]
