"""No error path brings what a document or a person said into the logs, the events or an answer's error."""

from __future__ import annotations

import errno
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest
import structlog
from fastapi import FastAPI
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from structlog._config import BoundLoggerLazyProxy

from docproc import logs
from docproc.console.servers import gateway, station
from docproc.engine.component import BaseComponent, Emission, Where
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store.deliveries import Due
from docproc.engine.store.tables import DeadLetter
from docproc.errors import ConfigurationError, InvalidAnswerError, PermanentError
from docproc.http import problems
from docproc.http.callbacks.post import Poster, _said
from docproc.http.callbacks.sender import Sender
from docproc.http.guard import Guard
from docproc.http.reception import Reception
from docproc.people.sign_in import passwords
from tests.harness import Harness, filled, opened, settings_for
from tests.hostile import make_locked_pdf

MARKER = "12345678Z"


class Leaky(BaseComponent):
    """Fails in the way that `payload.how` says, with something personal in hand."""

    component_name = "leaky"
    runs_in = Where.PROCESSES

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        nif, how = MARKER, message.payload["how"]
        if how == "bug":
            raise ValueError(f"cannot read {nif}")
        if how == "chained":
            try:
                dict[str, str]()[nif]
            except KeyError as error:
                error.add_note(nif)
                raise RuntimeError(nif) from ExceptionGroup(nif, [error])
        if how == "file":
            raise FileNotFoundError(errno.ENOENT, "No such file", f"/in/0-{nif}.pdf")
        if how == "permanent":
            raise PermanentError(f"{nif}.pdf is damaged")
        if how == "child":
            await self.offload(fail_far_away, nif)
        await session.execute(text("SELECT CAST(CAST(:nif AS text) AS integer)"), {"nif": nif})
        await session.execute(text("SELECT :nif FROM nowhere"), {"nif": nif})  # SQLite casts anything
        return []


def fail_far_away(nif: str) -> None:
    raise ValueError(f"cannot read {nif}")


Said = Callable[[], str]


@pytest.fixture(params=["json", "console"])
def said(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Said]:
    """All that was logged since, in each format, by us and by the libraries in use."""
    root = logging.getLogger()
    handlers, level, config = root.handlers[:], root.level, structlog.get_config()
    for module in [module for name, module in sys.modules.items() if name.startswith("docproc")]:
        if isinstance(getattr(module, "log", None), BoundLoggerLazyProxy):  # perhaps used, and so settled
            monkeypatch.setattr(module, "log", structlog.get_logger(module.__name__))
    settings = settings_for(Path(request.getfixturevalue("tmp_path")), log_format=request.param)
    logs.configure(settings.model_copy(update={"log_level": "debug"}))
    yield lambda: capsys.readouterr().err
    structlog.configure(**config)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> dict[str, str]:
    return {} if request.param == "sqlite" else {"database_url": request.getfixturevalue("postgres_url")}


@pytest.fixture
async def leaky(url: dict[str, str], tmp_path: Path) -> AsyncIterator[Harness]:
    path = {"leaky": f"{__name__}.Leaky"}
    async with opened(settings_for(tmp_path, components=path, warm_up=False, **url)) as harness:
        stage = "{name: leaky, component: leaky, retry: {attempts: 2, delay_seconds: 0}}"
        harness.workflow("leaky", f"stages: [{stage}]")
        await harness.start("leaky")
        yield harness


async def test_a_failing_component_tells_its_place_and_nothing_it_read(leaky: Harness, said: Said) -> None:
    ways = ("bug", "chained", "file", "child", "sql")
    ended = [await leaky.run("leaky", how=how) for how in ways]
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(gateway(leaky.app)), base_url="http://docproc"
    ) as client:
        timelines = [(await client.get(f"/requests/{one.id}/events")).text for one in ended]
        status = [(await client.get(f"/status/{one.id}")).text for one in ended]
    logged = said()
    for how, timeline, answer in zip(ways, timelines, status, strict=True):
        assert "leaky" in timeline, how
        assert MARKER not in timeline + answer, how
    assert MARKER not in logged
    # What remains is enough to find it.
    assert "message_handled" in logged and "test_personal_data.py" in logged and "ValueError" in logged
    kept = json.dumps([[row.data for row in await leaky.events(one.id)] for one in ended])
    async with leaky.app.store.reading() as session:
        of_sql = select(DeadLetter).where(DeadLetter.request_id == ended[-1].id)
        letter = (await session.scalars(of_sql)).one()
    assert MARKER not in letter.reason + json.dumps(letter.history)
    assert MARKER not in kept
    assert "ValueError at test_personal_data.py:" in kept
    # A verdict on a file, which names it, is its client's and not the log's.
    request = await leaky.run("leaky", how="permanent")
    assert f"{MARKER}.pdf is damaged" in str(request.error)
    logged = said()
    assert "PermanentError at test_personal_data.py:" in logged
    assert MARKER not in logged


ERRORS: dict[str, Exception] = {
    "bug": ValueError(MARKER),
    "sql": IntegrityError("INSERT", {"nif": MARKER}, Exception(MARKER), hide_parameters=True),
    "full": OSError(errno.ENOSPC, "No space left on device", f"/in/{MARKER}.pdf"),
    "rejected": InvalidAnswerError(f"vendor_tax_id: {MARKER} has a wrong check digit"),
    "unreadable": PermanentError(f"{MARKER}.pdf is damaged"),
    "setup": ConfigurationError("not ready"),
}
ERRORS["sql"].__cause__ = ValueError(MARKER)
cast(Any, ERRORS["sql"]).orig.sqlstate = "23505"


async def test_no_refusal_or_failure_of_a_server_logs_what_came(said: Said) -> None:
    app = FastAPI()
    app.add_middleware(Guard)
    problems.register(app)

    @app.post("/{how}")
    async def fail(how: str) -> None:
        raise ERRORS[how]

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://docproc") as client:
        for how in ERRORS:
            await client.post(f"/{how}", content=MARKER)
    logged = said()
    assert "http_request_failed" in logged and "http_request_refused" in logged
    assert MARKER not in logged


async def test_bad_uploads_log_nothing_of_them(
    sqlite_engine: Harness, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(gateway(sqlite_engine.app)), base_url="http://docproc"
    ) as client:
        form = {"content-type": f"multipart/form-data; boundary={MARKER}"}
        await client.post("/process", content=f"--{MARKER}\r\n{MARKER}", headers=form)
        file = {"file": (f"{MARKER}.pdf", MARKER.encode())}
        assert (await client.post("/process", files=file, data={"metadata": MARKER})).status_code == 400
        assert (await client.post("/process", files={"file": (f"{MARKER}.pdf", b"")})).status_code == 400

        def broken(*_args: Any) -> None:
            raise ValueError(MARKER)

        monkeypatch.setattr(Reception, "_submission", broken)
        assert (await client.post("/process", files=file)).status_code == 500
    assert MARKER not in said()


async def test_a_sign_in_that_fails_or_breaks_logs_no_password(
    sqlite_engine: Harness, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_engine.app.settings = sqlite_engine.settings.model_copy(update={"auth": "on"})
    transport = httpx.ASGITransport(station(sqlite_engine.app), client=("192.0.2.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://station") as client:
        csrf = (await client.get("/sign-in")).text.partition('name="csrf" value="')[2].partition('"')[0]
        form = {"name": "ana", "password": f"{MARKER}{MARKER}", "csrf": csrf, "next": "/"}
        await client.post("/sign-in", data=form)

        async def broken(_known: str | None, password: str) -> bool:
            raise RuntimeError(password)

        monkeypatch.setattr(passwords, "fits", broken)
        await client.post("/sign-in", data=form)
    logged = said()
    assert "sign_in_refused" in logged and "http_request_failed" in logged
    assert MARKER not in logged


async def test_a_callback_that_fails_logs_neither_body_nor_address(
    sqlite_engine: Harness, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error in (httpx.RemoteProtocolError(f"illegal status line: {MARKER}"), httpx.InvalidURL(MARKER)):
        assert MARKER not in _said(error)

    async def broken(_self: Poster, due: Due) -> None:
        raise ValueError(due.body)

    monkeypatch.setattr(Poster, "post", broken)
    due = Due(uuid4(), uuid4(), "default", 1, f"http://x/?of={MARKER}", MARKER, 0, utc_now())
    sender = Sender(sqlite_engine.app.store, Poster.__new__(Poster), "sender")
    assert (await sender._reply(due)).error == "ValueError"
    logged = said()
    assert "delivery_broke" in logged
    assert MARKER not in logged


def test_lines_of_other_libraries_are_treated_alike(said: Said) -> None:
    try:
        raise ValueError(MARKER)
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
        logging.getLogger("asyncio").error("Task exception was never retrieved\n%r", error, exc_info=info)
    logged = said()
    assert "never retrieved" in logged and "ValueError" in logged
    assert MARKER not in logged


async def test_a_wrong_password_of_a_file_is_kept_nowhere(tmp_path: Path, said: Said) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with opened(settings_for(home, warm_up=False)) as harness:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(gateway(harness.app)), base_url="http://docproc"
        ) as client:
            files = {"file": ("a.pdf", make_locked_pdf("another"))}
            data = {"metadata": json.dumps({"password": MARKER})}
            request_id = (await client.post("/process", files=files, data=data)).json()["request_id"]
        await harness.start("workflow_router", "splitter")
        request = await harness.finished(request_id)
        assert filled(request.error)["code"] == "wrong_password"
        async with harness.app.store.reading() as session:
            letter = (await session.scalars(select(DeadLetter))).one()
        assert "files" in PipelineMessage.parse(letter.body).payload
    found = [path.name for path in home.rglob("*") if path.is_file() and MARKER.encode() in path.read_bytes()]
    assert found == []
    assert MARKER not in said()


@pytest.mark.parametrize("password", [1234, True, ["1234"], None, 12.5])
async def test_a_password_that_is_no_text_is_refused_at_once(sqlite_engine: Harness, password: Any) -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(gateway(sqlite_engine.app)), base_url="http://docproc"
    ) as client:
        data = {"metadata": json.dumps({"password": password})}
        answer = await client.post("/process", files={"file": ("a.pdf", b"%PDF")}, data=data)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_metadata")
        body = {"workflow": "default", "metadata": {"password": password}}
        assert (await client.post("/requests", json=body)).status_code == 422


async def test_a_password_that_is_no_text_in_a_message_is_not_tried_again(tmp_path: Path) -> None:
    async with opened(settings_for(tmp_path, warm_up=False)) as harness:
        await harness.app.blobs.put("a/in/0-a.pdf", _content())
        await harness.start("splitter")
        files = [{"key": "a/in/0-a.pdf", "name": "a.pdf"}]
        request = await harness.run("default", files=files, password=1234)
        assert "the password is not text" in str(request.error)
        assert [e.attempt for e in await harness.events(request.id, "handled")] == [1]


async def _content() -> AsyncIterator[bytes]:
    yield make_locked_pdf("1234")


async def test_errors_of_the_database_do_not_say_what_was_to_be_stored(leaky: Harness) -> None:
    """Whoever shows one, here or in a third party's component."""
    with pytest.raises(DBAPIError) as raised:
        async with leaky.app.store.writing() as session:
            await session.execute(text("SELECT CAST(:nif AS text) FROM nowhere"), {"nif": MARKER})
    assert MARKER not in str(raised.value)
