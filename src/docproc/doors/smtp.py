"""The receiver of mail: an SMTP server that says 250 only when the mail's files are a request."""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import Any

import structlog
from aiosmtpd.smtp import SMTP, Envelope, Session

from docproc.app import App
from docproc.doors.mail_door import MailDoor
from docproc.doors.refusals import PASSING, refusal
from docproc.errors import ConfigurationError
from docproc.harmless import text_for_logs
from docproc.http.problems import Problem

log = structlog.get_logger(__name__)

# What base64 adds to the files, and the mail around them.
_ENCODING = 1.4
# A mail is in memory while it comes: so many at once.
AT_ONCE = 8
QUIET_SECONDS = 60


class SmtpDoor(MailDoor):
    name = "smtp_door"

    def __init__(self, application: App) -> None:
        super().__init__(application)
        if self.settings.smtp_port is None:
            raise ConfigurationError("the receiver of mail has no port", remedy="Set DOCPROC_SMTP_PORT")
        self._server: asyncio.Server | None = None
        self._places = asyncio.Semaphore(AT_ONCE)

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def prepare(self) -> None:
        host, port = self.application.settings.host, self.settings.smtp_port
        tls = self._tls()
        logging.getLogger("mail.log").setLevel(logging.ERROR)  # it would quote what clients say
        loop = asyncio.get_running_loop()
        largest = int(self.application.settings.max_upload_mb * _ENCODING * 1024 * 1024)

        def conversation() -> SMTP:
            return SMTP(
                self,
                data_size_limit=largest,
                hostname="docproc",
                ident="DocProc",
                tls_context=tls,
                timeout=QUIET_SECONDS,
                loop=loop,
                auth_require_tls=True,
            )

        try:
            self._server = await loop.create_server(conversation, host, port)
        except OSError as error:
            raise ConfigurationError(
                f"the receiver of mail cannot listen on {host}:{port}: {error.strerror or error}",
                remedy="Set DOCPROC_SMTP_PORT to a free port",
            ) from error
        log.info("door_listening", door=self.name, host=host, port=self.port)

    def _tls(self) -> ssl.SSLContext | None:
        if self.settings.smtp_certificate is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.settings.smtp_certificate, self.settings.smtp_certificate_key)
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(
                f"the certificate of the receiver of mail cannot be used: {error}",
                remedy="Set DOCPROC_SMTP_CERTIFICATE and DOCPROC_SMTP_CERTIFICATE_KEY to PEM files",
            ) from error
        return context

    async def run(self) -> None:
        assert self._server is not None
        self.is_ready = True
        try:
            await self._server.serve_forever()
        finally:
            self._server.close()

    # --- what aiosmtpd calls, by these names ------------------------------------------------------------

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[Any]
    ) -> str:
        """Strangers are told before they send anything."""
        try:
            self.tenant_of(address.lower())
        except Problem as error:
            log.warning("door_turned_away", door=self.name, user=address[:100])
            return f"550 5.7.1 {error.detail}"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 2.1.0 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """The other side forgets the mail at 250, and sends it again at 4xx or when the connection is lost;
        then it is found to be the same request."""
        content = envelope.content
        assert isinstance(content, bytes)
        async with self._places:
            try:
                accepted = await self.take(content, envelope.mail_from)
            except (Problem, *PASSING) as error:
                why = refusal(error)
                if why is None:
                    log.warning("door_waits", door=self.name, problem=text_for_logs(error))
                    return "451 4.3.0 it cannot be taken now, try again later"
                log.warning("door_refused", door=self.name, code=why.code)
                return f"554 5.6.0 {_line(str(why))}"
        return f"250 2.0.0 OK request {accepted.request_id}"


def _line(text: str) -> str:
    """One line of SMTP: ASCII, and not endless."""
    return " ".join(text.encode("ascii", "replace").decode().split())[:400]
