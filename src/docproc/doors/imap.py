"""The mailbox: mails that lie on an IMAP server are taken, and moved into a folder there that says so."""

from __future__ import annotations

import asyncio
import contextlib
import imaplib
import re
import ssl
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.app import App
from docproc.doors.mail_door import MailDoor
from docproc.doors.refusals import PASSING, Refusal, refusal
from docproc.doors.turns import Turns
from docproc.errors import ConfigurationError
from docproc.harmless import text_for_logs
from docproc.http.problems import Problem

log = structlog.get_logger(__name__)

TIMEOUT_SECONDS = 60.0
BATCH = 50
# Where mails go, on the server.
DONE, FAILED = "DocProc-Done", "DocProc-Failed"
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")


class ImapDoor(MailDoor):
    """Everything in the mailbox is taken; what was taken is moved away, so that the mailbox shows what waits.

    Killed between taking and moving, it finds the mail again and the request with it: nothing comes twice.
    """

    name = "imap_door"

    def __init__(self, application: App) -> None:
        super().__init__(application)
        if self.settings.imap_url is None:
            raise ConfigurationError("no mailbox is named", remedy="Set DOCPROC_IMAP_URL")
        self.mailbox = Mailbox(self.settings.imap_url.get_secret_value())
        self._turns = Turns(application.store, application.worker_id)

    async def run(self) -> None:
        self.is_ready = True
        try:
            while True:
                if not await self._round():
                    await asyncio.sleep(self.settings.imap_poll_seconds)
        finally:
            await self._turns.end()

    async def _round(self) -> bool:
        try:
            return await self._turns.mine(f"door imap {self.mailbox.place}") and await self._look()
        except (SQLAlchemyError, OSError, imaplib.IMAP4.error) as error:
            log.warning("door_waits", door=self.name, problem=text_for_logs(error))
            return False

    async def _look(self) -> bool:
        """Whether anything was taken, so that there may be more. Raises OSError or IMAP4.error."""
        opening = self.mailbox.opened()
        server = await asyncio.to_thread(opening.__enter__)
        took = False
        try:
            for uid in await asyncio.to_thread(waiting, server):
                took |= await self._take(server, uid)
        finally:
            await asyncio.to_thread(opening.__exit__, None, None, None)
        return took

    async def _take(self, server: imaplib.IMAP4, uid: bytes) -> bool:
        largest = int(self.application.settings.max_upload_mb * 1.4 * 1024 * 1024)
        content = await asyncio.to_thread(fetch, server, uid, largest)
        if content is None:
            why: Refusal | None = Refusal("too_large", "the mail is too large", "")
        else:
            try:
                await self.take(content)
                why = None
            except (Problem, *PASSING) as error:
                why = refusal(error)
                if why is None:
                    log.warning("door_waits", door=self.name, problem=text_for_logs(error))
                    return False
        if why is not None:
            log.warning("door_refused", door=self.name, code=why.code)
        await asyncio.to_thread(move, server, uid, DONE if why is None else FAILED)
        return True


class Mailbox:
    """Where it is, and how to get in."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.is_encrypted = parts.scheme == "imaps"
        self.host = parts.hostname or "localhost"
        self.port = parts.port or (993 if self.is_encrypted else 143)
        self.user, self.password = unquote(parts.username or ""), unquote(parts.password or "")
        self.folder = unquote(parts.path.strip("/")) or "INBOX"
        self.place = f"{self.user}@{self.host}/{self.folder}"

    @contextlib.contextmanager
    def opened(self) -> Iterator[imaplib.IMAP4]:
        """Blocking. Raises OSError or IMAP4.error."""
        with self._connected() as server:
            server.login(self.user, self.password)
            for name in (DONE, FAILED):
                server.create(name)  # says NO when it is there
            answer, said = server.select(_quoted(self.folder))
            if answer != "OK":
                raise imaplib.IMAP4.error(f"the mailbox {self.folder} cannot be opened: {said!r}")
            yield server

    def _connected(self) -> imaplib.IMAP4:
        if self.is_encrypted:
            context = ssl.create_default_context()
            return imaplib.IMAP4_SSL(self.host, self.port, ssl_context=context, timeout=TIMEOUT_SECONDS)
        return imaplib.IMAP4(self.host, self.port, timeout=TIMEOUT_SECONDS)


def waiting(server: imaplib.IMAP4) -> list[bytes]:
    """Mails that nobody took, oldest first."""
    _, found = server.uid("SEARCH", "UNDELETED")
    return (found[0] or b"").split()[:BATCH]


def fetch(server: imaplib.IMAP4, uid: bytes, largest: int) -> bytes | None:
    """A mail as it is, unread as before; None: it is too large."""
    name = uid.decode()
    _, said = server.uid("FETCH", name, "(RFC822.SIZE)")
    size = _SIZE.search(b" ".join(one for one in said if isinstance(one, bytes)))
    if size and int(size[1]) > largest:
        return None
    _, parts = server.uid("FETCH", name, "(BODY.PEEK[])")
    for part in parts:
        if isinstance(part, tuple):
            return bytes(part[1])
    raise imaplib.IMAP4.error("the mail was gone before it was read")


def move(server: imaplib.IMAP4, uid: bytes, folder: str) -> None:
    """Copied before it is removed: what breaks in between leaves it in both."""
    name = uid.decode()
    answer, said = server.uid("COPY", name, folder)
    if answer != "OK":
        raise imaplib.IMAP4.error(f"a mail cannot be moved into {folder}: {said!r}")
    server.uid("STORE", name, "+FLAGS", r"(\Deleted)")
    server.expunge()


def _quoted(folder: str) -> str:
    return '"' + folder.replace("\\", "\\\\").replace('"', '\\"') + '"'
