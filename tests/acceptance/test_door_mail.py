"""Mail as a way in: sent to the receiver by smtplib, and found in a mailbox on a real IMAP server."""

from __future__ import annotations

import asyncio
import json
import smtplib
import socket
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from docproc.engine.store.columns import as_uuid
from docproc.errors import ConfigurationError
from tests.doors import PDF, Standing, another, standing, until_left
from tests.harness import opened, settings_for
from tests.imap_server import ImapServer, imap_server
from tests.smtp import mailbox

SENDERS = (("default", "@acme.example"),)
PHOTO = b"\xff\xd8\xff" + b"x" * 40_000
LOGO = b"\x89PNG" + b"x" * 500


def letter(
    *, sender: str = "ana@acme.example", message_id: str = "<1@acme.example>", files: int = 1
) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, "docs@here.example", "Facturas de mayo"
    mail["Message-ID"] = message_id
    mail.set_content("Adjunto las facturas.")
    mail.add_alternative('<p>Adjunto.<img src="cid:logo"></p>', subtype="html")
    html = mail.get_payload()[1]  # type: ignore[index] # the alternative made just now
    html.add_related(LOGO, "image", "png", cid="<logo>")  # type: ignore[union-attr]
    html.add_related(PHOTO, "image", "jpeg", cid="<photo>", filename="ticket.jpg")  # type: ignore[union-attr]
    for number in range(files):
        mail.add_attachment(
            PDF + str(number).encode(),
            maintype="application",
            subtype="pdf",
            filename=f"factura-ñ-{number}.pdf",
        )
    return mail


def names(row: Any) -> list[str]:
    uploads = json.loads(row.uploads) if isinstance(row.uploads, str) else row.uploads
    return [one["name"] for one in uploads]


async def send(here: Standing[Any], mail: EmailMessage, sender: str | None = None) -> None:
    def talk() -> None:
        with smtplib.SMTP("127.0.0.1", here.door.port, timeout=20) as server:
            server.send_message(mail, from_addr=sender)

    await asyncio.to_thread(talk)


async def test_mail_is_one_request_with_all_its_files(tmp_path: Path) -> None:
    async with standing(tmp_path, "smtp_door", smtp_port=0, mail_senders=SENDERS) as here:
        await send(here, letter(files=2))
        (row,) = await here.requests()  # it was there before the sender was told 250
        assert (row.channel, row.external_id) == ("email", "<1@acme.example>")
        assert names(row) == ["ticket.jpg", "factura-ñ-0.pdf", "factura-ñ-1.pdf"]
        assert json.loads(row.metadata)["mail"] == {"from": "ana@acme.example", "subject": "Facturas de mayo"}
        await send(here, letter(files=2))  # its server did not hear the 250
        assert len(await here.requests()) == 1


async def test_strangers_and_mails_without_files_are_refused(tmp_path: Path) -> None:
    async with standing(tmp_path, "smtp_door", smtp_port=0, mail_senders=SENDERS) as here:
        with pytest.raises(smtplib.SMTPSenderRefused, match="may not send"):
            await send(here, letter(sender="eve@elsewhere.example"))
        empty = EmailMessage()
        empty["From"], empty["To"] = "ana@acme.example", "docs@here.example"
        empty.set_content("I forgot the file.")
        with pytest.raises(smtplib.SMTPDataError, match="no file attached"):
            await send(here, empty)
        assert await here.requests() == []


async def test_mail_that_breaks_off_is_not_taken(tmp_path: Path) -> None:
    async with standing(tmp_path, "smtp_door", smtp_port=0, mail_senders=SENDERS) as here:
        content = letter().as_bytes()

        def break_off() -> None:
            with socket.create_connection(("127.0.0.1", here.door.port), 20) as connection:
                talk = connection.makefile("rwb", buffering=0)
                for line in ("EHLO x", "MAIL FROM:<ana@acme.example>", "RCPT TO:<docs@here.example>", "DATA"):
                    talk.readline()
                    talk.write(line.encode() + b"\r\n")
                talk.write(content[: len(content) // 2])

        await asyncio.to_thread(break_off)
        await send(here, letter(message_id="<2@acme.example>"))
        (row,) = await here.requests()
        assert row.external_id == "<2@acme.example>"


async def test_trouble_here_has_the_sender_try_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with standing(tmp_path, "smtp_door", smtp_port=0, mail_senders=SENDERS) as here:

        async def away(*_args: Any) -> Any:
            raise ConnectionError("the database is away")

        with monkeypatch.context() as patching:
            patching.setattr(here.door.reception, "take", away)
            with pytest.raises(smtplib.SMTPDataError) as refused:
                await send(here, letter())
        assert refused.value.smtp_code == 451
        await send(here, letter())
        assert len(await here.requests()) == 1


async def test_answer_goes_back_by_mail_once(tmp_path: Path) -> None:
    async with mailbox() as box:
        values = {"mail_answers_url": f"smtp://127.0.0.1:{box.port}", "mail_senders": SENDERS}
        async with standing(tmp_path, "smtp_door", smtp_port=0, **values) as here:
            await send(here, letter())
            automatic = letter(message_id="<2@acme.example>")
            automatic["Auto-Submitted"] = "auto-generated"
            await send(here, automatic)
            first, second = await here.ids()
            await here.finish(second)
            await here.finish(first)
            await here.engine.until(lambda: bool(box.messages), "the answer was mailed")
        (mail,) = box.messages
    assert mail["To"] == "ana@acme.example" and mail["Subject"] == "Re: Facturas de mayo"
    assert mail["In-Reply-To"] == "<1@acme.example>" and mail["Auto-Submitted"] == "auto-replied"
    (attached,) = mail.iter_attachments()
    assert json.loads(attached.get_payload(decode=True))["request_id"] == str(first)  # type: ignore[arg-type]


async def test_open_receiver_of_mail_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="DOCPROC_MAIL_SENDERS"):
        async with standing(tmp_path, "smtp_door", smtp_port=0, host="0.0.0.0", auth="on"):
            pass


@pytest.fixture(scope="module")
def imap() -> Iterator[ImapServer]:
    with imap_server() as server:
        yield server


async def test_mailbox_is_emptied_into_requests_none_lost_none_twice(
    tmp_path: Path, imap: ImapServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"imap_url": imap.url, "imap_poll_seconds": 0.2, "mail_senders": SENDERS}
    good = letter(message_id="<10@acme.example>").as_bytes()
    for content in (good, letter(sender="eve@elsewhere.example").as_bytes(), good):
        await asyncio.to_thread(imap.put, content)
    async with opened(settings_for(tmp_path, **values)) as engine:
        moved = asyncio.Event()
        loop = asyncio.get_running_loop()

        def die(*_args: Any) -> None:
            loop.call_soon_threadsafe(moved.set)
            raise RuntimeError("the process ends here")

        with monkeypatch.context() as patching:  # taken, and not moved
            patching.setattr("docproc.doors.imap.move", die)
            async with another(engine, "imap_door"):
                await asyncio.wait_for(moved.wait(), 30)
                await until_left(engine)
        async with another(engine, "imap_door") as door:
            here = Standing(engine, door)
            await engine.until(lambda: imap.count("INBOX") == 0, "the mailbox is empty", 60)
            (row,) = await here.requests()
            assert (row.channel, row.external_id) == ("email", "<10@acme.example>")
            assert await here.blob(row) == PHOTO and as_uuid(row.id)
    assert imap.count("DocProc-Done") == 2 and imap.count("DocProc-Failed") == 1
