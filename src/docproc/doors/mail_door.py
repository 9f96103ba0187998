"""What both doors for mail do with a mail: check its sender, take its files as one request, and answer it."""

from __future__ import annotations

import asyncio
import smtplib
from collections.abc import AsyncIterator, Sequence
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import orjson
import structlog

from docproc import mail
from docproc.app import App
from docproc.doors import mail_parts
from docproc.doors.door import Door
from docproc.doors.mail_parts import Mail
from docproc.doors.notes import Notes, arrival
from docproc.engine.store.deliveries import Due
from docproc.engine.store.tenants import DEFAULT
from docproc.errors import ConfigurationError
from docproc.http.callbacks.schedule import Reply
from docproc.http.callbacks.sender import Posts
from docproc.http.exposure import is_loopback
from docproc.http.problems import Problem
from docproc.http.reception import Accepted, Incoming

log = structlog.get_logger(__name__)

ADDRESS = "mailto://"


class MailDoor(Door):
    channel = "email"

    def __init__(self, application: App) -> None:
        super().__init__(application)
        self._check_exposure()

    def _check_exposure(self) -> None:
        """A sender's address is easily made up; but nobody may come in whom no list names."""
        settings = self.application.settings
        is_open = not self.settings.mail_senders and not settings.allow_open
        if is_open and (self.settings.imap_url is not None or not is_loopback(settings.host)):
            raise ConfigurationError(
                "everybody who can write a mail could send files",
                remedy="Name those who may in DOCPROC_MAIL_SENDERS, as @acme.example, or set "
                "DOCPROC_ALLOW_OPEN=true if only known people reach this mailbox",
            )

    def tenant_of(self, sender: str) -> str:
        """Raises Problem for a stranger."""
        if not self.settings.mail_senders:
            return DEFAULT
        for tenant_id, allowed in self.settings.mail_senders:
            if sender == allowed or (allowed.startswith("@") and sender.endswith(allowed)):
                return tenant_id
        raise Problem(403, "unknown_sender", "this address may not send files here")

    async def take(self, content: bytes, envelope_sender: str | None = None) -> Accepted:
        """One request for all files of a mail; the same mail again is the same request.

        Raises Problem, and what the reception raises.
        """
        read = await asyncio.to_thread(mail_parts.read, content, envelope_sender)
        tenant_id = self.tenant_of(read.sender)
        if not read.files:
            raise Problem(422, "missing_file", "the mail has no file attached", "Attach one")
        said = Notes(metadata={"mail": {"from": read.sender, "subject": read.subject}})
        came = arrival(
            said,
            channel=self.channel,
            tenant_id=tenant_id,
            external_id=read.message_id,
            workflow=self.settings.door_workflow,
            answer_to=self._answer_to(read),
        )
        files = [Incoming(file.name, _once(file.content)) for file in read.files]
        return await self.reception.take(files, came)

    def _answer_to(self, read: Mail) -> str | None:
        if self.settings.mail_answers_url is None or read.is_automatic or "@" not in read.sender:
            return None
        said = urlencode({"subject": read.subject, "message-id": read.message_id})
        return f"{ADDRESS}{quote(read.sender, safe='@')}?{said}"

    def poster(self) -> tuple[Posts, Sequence[str]] | None:
        if self.settings.mail_answers_url is None:
            return None
        url = self.settings.mail_answers_url.get_secret_value()
        return MailPoster(url, self.settings.mail_answers_from), [ADDRESS]


class MailPoster:
    """Answers mails. A mail may arrive twice after a crash, under the same id: mail programs show it once."""

    timeout_seconds = 30.0

    def __init__(self, url: str, sender: str) -> None:
        self.url = url
        self.sender = sender

    async def post(self, due: Due) -> Reply:
        try:
            async with asyncio.timeout(self.timeout_seconds):
                await asyncio.to_thread(mail.send, self.url, self.message(due))
        except TimeoutError:
            return Reply(error=f"the mail server did not take it within {self.timeout_seconds:g} s")
        except (OSError, smtplib.SMTPException) as error:
            return Reply(error=type(error).__name__)
        return Reply(is_delivered=True)

    def message(self, due: Due) -> EmailMessage:
        parts = urlsplit(due.url)
        said = parse_qs(parts.query)
        subject, replied = said.get("subject", [""])[0], said.get("message-id", [""])[0]
        answer = orjson.loads(due.body)
        message = EmailMessage()
        message["From"] = self.sender
        message["To"] = parts.netloc
        message["Subject"] = f"Re: {subject or 'your files'}"
        message["Date"] = formatdate(usegmt=True)
        message["Message-ID"] = f"<{due.id}@docproc>"
        message["Auto-Submitted"] = "auto-replied"
        if replied.startswith("<"):
            message["In-Reply-To"] = message["References"] = replied
        message.set_content(_wording(answer))
        message.add_attachment(
            due.body.encode(), maintype="application", subtype="json", filename="answer.json"
        )
        return message


def _wording(answer: dict[str, object]) -> str:
    status = {True: "So far (the rest follows)", False: str(answer["status"])}[bool(answer["partial"])]
    return (
        f"Request: {answer['request_id']}\nStatus: {status}\nVersion: {answer['answer_version']}\n"
        "\nThe answer is attached as JSON.\nLa respuesta va adjunta como JSON.\n"
    )


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
