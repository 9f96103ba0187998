"""The hot folder, as people and scanners use it: whole files come in, half ones wait, answers lie beside."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from docproc.doors.hot_folder import InboxDoor
from docproc.doors.inbox import Inbox, Seen
from docproc.engine.store.columns import as_uuid
from docproc.errors import ConfigurationError
from tests.doors import PDF, another, standing, until_left
from tests.harness import opened, settings_for

FAST: dict[str, Any] = {"inbox_poll_seconds": 0.05, "inbox_settle_seconds": 0.2}


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


async def test_file_becomes_a_request_and_its_answer_lies_beside_it(tmp_path: Path) -> None:
    inbox = folder_of(tmp_path)
    (inbox / "2026").mkdir()
    (inbox / "2026" / "invoice.pdf").write_bytes(PDF)
    async with standing(tmp_path, "folder_door", inbox_folder={"default": inbox}, **FAST) as here:
        (row,) = await here.until_requests(1)
        assert (row.channel, row.external_id, row.tenant_id) == ("folder", "2026/invoice.pdf", "default")
        assert await here.blob(row) == PDF
        done = inbox / "done" / "2026" / "invoice.pdf"
        await here.engine.until(done.exists, "the file was moved")
        assert not (inbox / "2026" / "invoice.pdf").exists()
        await here.finish(as_uuid(row.id))
        answer = done.with_name("invoice.pdf.answer.json")
        await here.engine.until(answer.exists, "the answer was written")
        said = json.loads(answer.read_text())
        assert said["request_id"] == str(as_uuid(row.id)) and said["status"] == "completed"

        async def outcomes() -> list[Any]:
            return [event.outcome for event in await here.engine.events(as_uuid(row.id), "delivery")]

        async def is_told() -> bool:
            return await outcomes() == ["delivered"]

        await here.engine.until(is_told, "the timeline tells of it")


async def test_file_that_is_still_written_is_not_taken(tmp_path: Path) -> None:
    """Neither while somebody has it open, however slow, nor before it has been quiet."""
    inbox = folder_of(tmp_path)
    async with standing(tmp_path, "folder_door", inbox_folder={"default": inbox}, **FAST) as here:
        with (inbox / "slow.pdf").open("wb") as file:
            file.write(PDF[:10])
            file.flush()
            (inbox / "quick.pdf").write_bytes(PDF)
            await here.until_requests(1)  # the other one; by now this one has been quiet as long
            for _ in range(10):
                await asyncio.sleep(0.05)
                assert [row.external_id for row in await here.requests()] == ["quick.pdf"]
            file.write(PDF[10:])
        rows = await here.until_requests(2)
        slow = next(row for row in rows if row.external_id == "slow.pdf")
        assert await here.blob(slow) == PDF


async def test_unfinished_hidden_and_linked_files_are_left_alone(tmp_path: Path) -> None:
    inbox = folder_of(tmp_path)
    for name in (".hidden.pdf", "a.pdf.part", "b.filepart", "~$c.docx", "d.pdf.json"):
        (inbox / name).write_bytes(PDF)
    (tmp_path / "secret.pdf").write_bytes(PDF)
    (inbox / "link.pdf").symlink_to(tmp_path / "secret.pdf")
    os.mkfifo(inbox / "pipe.pdf")
    async with standing(tmp_path, "folder_door", inbox_folder={"default": inbox}, **FAST) as here:
        (inbox / "good.pdf").write_bytes(PDF)
        (row,) = await here.until_requests(1)
        assert row.external_id == "good.pdf"
        (inbox / "a.pdf.part").rename(inbox / "a.pdf")
        rows = await here.until_requests(2)
        assert rows[1].external_id == "a.pdf"


async def test_notes_beside_a_file_are_its_fields(tmp_path: Path) -> None:
    inbox = folder_of(tmp_path)
    notes = {"workflow": "default", "external_id": "order-7", "metadata": {"customer": "ACME"}, "priority": 9}
    (inbox / "x.pdf.json").write_text(json.dumps(notes))
    (inbox / "x.pdf").write_bytes(PDF)
    async with standing(tmp_path, "folder_door", inbox_folder={"default": inbox}, **FAST) as here:
        (row,) = await here.until_requests(1)
        assert row.external_id == "order-7" and json.loads(row.metadata) == {"customer": "ACME"}
        await here.engine.until((inbox / "done" / "x.pdf.json").exists, "the notes were moved, too")


@pytest.mark.parametrize(
    ("notes", "content", "code"),
    [
        ("{", PDF, "invalid_notes"),
        ('{"workflow": "nonsense"}', PDF, "unknown_workflow"),
        ('{"wokflow": "default"}', PDF, "invalid_notes"),
        ('{"callback_url": "http://127.0.0.1/x"}', PDF, "invalid_callback_url"),
        (None, b"", "empty_file"),
        (None, b"x" * 2048, "too_large"),
    ],
)
async def test_what_cannot_be_taken_is_in_failed_and_says_why(
    tmp_path: Path, notes: str | None, content: bytes, code: str
) -> None:
    inbox = folder_of(tmp_path)
    if notes is not None:
        (inbox / "x.pdf.json").write_text(notes)
    (inbox / "x.pdf").write_bytes(content)
    values = {"inbox_folder": {"default": inbox}, "max_upload_mb": 0.001, **FAST}
    async with standing(tmp_path, "folder_door", **values) as here:
        told = inbox / "failed" / "x.pdf.error.json"
        await here.engine.until(told.exists, "it was refused")
        assert json.loads(told.read_text())["error"]["code"] == code
        assert (inbox / "failed" / "x.pdf").read_bytes() == content
        assert await here.requests() == []


async def test_request_that_fails_has_its_file_in_failed(tmp_path: Path) -> None:
    inbox = folder_of(tmp_path)
    (inbox / "x.pdf").write_bytes(PDF)
    async with standing(tmp_path, "folder_door", inbox_folder={"default": inbox}, **FAST) as here:
        (row,) = await here.until_requests(1)
        await here.engine.until((inbox / "done" / "x.pdf").exists, "the file was moved")
        await here.finish(as_uuid(row.id), {"code": "damaged", "message": "it cannot be read"})
        answer = inbox / "failed" / "x.pdf.answer.json"
        await here.engine.until(answer.exists, "the answer was written")
        assert json.loads(answer.read_text())["error"]["code"] == "damaged"
        assert (inbox / "failed" / "x.pdf").exists() and not (inbox / "done" / "x.pdf").exists()


async def test_sent_twice_is_one_request_and_is_answered_again(tmp_path: Path) -> None:
    inbox = folder_of(tmp_path)
    (inbox / "x.pdf").write_bytes(PDF)
    async with standing(tmp_path, "folder_door", inbox_folder={"default": inbox}, **FAST) as here:
        (row,) = await here.until_requests(1)
        await here.finish(as_uuid(row.id))
        answer = inbox / "done" / "x.pdf.answer.json"
        await here.engine.until(answer.exists, "the answer was written")
        answer.unlink()
        (inbox / "x.pdf").write_bytes(PDF)
        await here.engine.until(answer.exists, "the answer was written again")
        assert len(await here.requests()) == 1
        (inbox / "x.pdf").write_bytes(PDF + b"% another version\n")
        await here.until_requests(2)
        await here.engine.until((inbox / "done" / "x-2.pdf").exists, "the new version has a place of its own")
        assert (inbox / "done" / "x.pdf").read_bytes() == PDF


async def test_door_killed_after_the_commit_takes_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = folder_of(tmp_path)
    (inbox / "x.pdf").write_bytes(PDF)
    async with opened(settings_for(tmp_path, inbox_folder={"default": inbox}, **FAST)) as engine:
        dying = asyncio.Event()
        loop = asyncio.get_running_loop()

        def die(_inbox: Inbox, _seen: Seen, _place: str, *, keep_notes: bool) -> None:
            loop.call_soon_threadsafe(dying.set)
            raise RuntimeError("the process ends here")

        with monkeypatch.context() as patching:
            patching.setattr(Inbox, "accepted", die)
            async with another(engine, "folder_door"):
                await asyncio.wait_for(dying.wait(), 30)
                await until_left(engine)
        assert (inbox / "x.pdf").exists()
        async with another(engine, "folder_door"):
            await engine.until((inbox / "done" / "x.pdf").exists, "it was moved by the next one", 40)
        assert len(await engine.query("SELECT id FROM requests")) == 1


async def test_database_that_is_away_leaves_files_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = folder_of(tmp_path)
    (inbox / "x.pdf").write_bytes(PDF)
    monkeypatch.setattr("docproc.doors.refusals.WAIT_SECONDS", 0.2)
    async with standing(tmp_path, "folder_door", inbox_folder={"default": inbox}, **FAST) as here:
        taking = here.door.reception.take
        times = 0

        async def away(*args: Any) -> Any:
            nonlocal times
            times += 1
            if times < 3:
                raise ConnectionError("the database is away")
            return await taking(*args)

        monkeypatch.setattr(here.door.reception, "take", away)
        await here.until_requests(1)
        await here.engine.until((inbox / "done" / "x.pdf").exists, "it was taken in the end")
        assert times == 3 and not list((inbox / "failed").iterdir())


async def test_two_doors_take_turns_and_nothing_comes_twice(tmp_path: Path) -> None:
    inbox = folder_of(tmp_path)
    async with (
        standing(tmp_path, "folder_door", inbox_folder={"default": inbox}, **FAST) as here,
        another(here.engine, "folder_door") as second,
    ):
        assert isinstance(second, InboxDoor)
        for number in range(30):
            (inbox / f"{number}.pdf").write_bytes(PDF + str(number).encode())
        await here.until_requests(30)
        await here.engine.until(lambda: len(list((inbox / "done").iterdir())) == 30, "all were moved")


async def test_folder_that_cannot_be_written_is_told_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    values = {"inbox_folder": {"default": tmp_path / "file" / "inbox"}}
    with pytest.raises(ConfigurationError, match="cannot be used as an inbox"):
        async with standing(tmp_path, "folder_door", **values):
            pass
