"""The ways to people: a webhook, mail, and text messages through a webhook."""

from __future__ import annotations

import asyncio
import smtplib
from email.message import EmailMessage
from email.utils import formatdate

import httpx
import orjson

from docproc import __version__, mail
from docproc.alerts import wording
from docproc.alerts.configuration import AlertSettings
from docproc.alerts.notices import MAIL, SMS, WEBHOOK, Batch
from docproc.engine.message import utc_now
from docproc.errors import TransportError
from docproc.http.callbacks import signature
from docproc.http.callbacks.secret import key_for
from docproc.settings import Settings

TIMEOUT_SECONDS = 10.0


class NotToldError(TransportError):
    """A notice did not reach anybody now; it is sent again."""


class Channels:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings.section(AlertSettings)
        self._key = key_for(settings)  # signs, as answers to a callback_url are signed
        self._client = httpx.AsyncClient(
            trust_env=False,
            timeout=TIMEOUT_SECONDS,
            headers={"User-Agent": f"DocProc/{__version__}", "Content-Type": "application/json"},
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def send(self, batch: Batch) -> None:
        """Raises NotToldError."""
        ways = {WEBHOOK: self._webhook, MAIL: self._mail, SMS: self._text_message}
        try:
            await ways[batch.channel](batch)
        except (httpx.HTTPError, smtplib.SMTPException, OSError) as error:
            raise NotToldError(f"{batch.channel}: {type(error).__name__}") from error

    async def _webhook(self, batch: Batch) -> None:
        body = orjson.dumps(wording.as_json(batch))
        headers = {"webhook-id": str(batch.id)}  # the same when it is sent again
        if self._key is not None:
            moment = int(utc_now().timestamp())
            headers = signature.headers(self._key, str(batch.id), moment, body)
        await self._post(self.settings.alert_webhook_url or "", body, headers)

    async def _text_message(self, batch: Batch) -> None:
        token = self.settings.alert_sms_token
        headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
        for number in self.settings.alert_sms_to or ():
            body = orjson.dumps({"to": number, "text": wording.short(batch.told[0])})
            # A gateway that heeds the key sends one text, though a crash may have us ask twice.
            await self._post(
                self.settings.alert_sms_url or "",
                body,
                {**headers, "Idempotency-Key": f"{batch.id}-{number}"},
            )

    async def _post(self, url: str, body: bytes, headers: dict[str, str]) -> None:
        async with self._client.stream("POST", url, content=body, headers=headers) as answer:
            if not answer.is_success:
                raise NotToldError(f"the receiver answered {answer.status_code}")

    async def _mail(self, batch: Batch) -> None:
        message = EmailMessage()
        message["Subject"] = " ".join(wording.subject(batch).split())
        message["From"] = self.settings.alert_mail_from
        message["To"] = ", ".join(self.settings.alert_mail_to or ())
        message["Date"] = formatdate(usegmt=True)
        message["Message-ID"] = f"<{batch.id}@docproc>"
        message.set_content(wording.text(batch))
        assert self.settings.alert_smtp_url is not None
        await asyncio.to_thread(mail.send, self.settings.alert_smtp_url.get_secret_value(), message)
