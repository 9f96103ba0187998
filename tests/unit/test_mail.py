"""Mail over a real socket: sent as it is, and no password without encryption."""

from __future__ import annotations

import asyncio
import smtplib
from email.message import EmailMessage

import pytest

from docproc import mail
from tests.smtp import mailbox


def message() -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "docproc@example.org", "ana@example.org", "Listo"
    made.set_content("Hecho.")
    return made


async def test_mail_arrives() -> None:
    async with mailbox() as box:
        await asyncio.to_thread(mail.send, f"smtp://127.0.0.1:{box.port}", message())
        assert [one["Subject"] for one in box.messages] == ["Listo"]


async def test_password_is_never_sent_to_a_server_that_cannot_encrypt() -> None:
    async with mailbox() as box:
        with pytest.raises(smtplib.SMTPException):
            await asyncio.to_thread(mail.send, f"smtp://ana:secret@127.0.0.1:{box.port}", message())
        assert box.messages == []
