"""Tells teachers: notices that are due are sent, by webhook or mail, until they are taken or too old."""

from __future__ import annotations

import asyncio
import contextlib
import random
import smtplib
from collections.abc import Sequence
from datetime import datetime, timedelta
from email.message import EmailMessage

import orjson
import structlog
from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError

from docproc import mail
from docproc.app import App
from docproc.apps.materials.notices import WEBHOOK
from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.materials.tables import MaterialNotice
from docproc.apps.materials.texts import mail_text
from docproc.engine.message import utc_now
from docproc.engine.store.deliveries import Due
from docproc.http.callbacks.post import Poster
from docproc.http.callbacks.resolver import Resolver
from docproc.http.callbacks.schedule import AttemptOutcome, Reply, Schedule
from docproc.http.callbacks.secret import key_for

log = structlog.get_logger(__name__)

_LOOK_SECONDS = 1.0
_AT_ONCE = 20
# For how long a notice that is being sent is nobody else's; a process that dies gives it up after that.
_CLAIM_SECONDS = 60.0


class Notifier:
    """One in each worker; a notice is sent by whoever claims it first. A crash in between sends it twice,
    with the same id."""

    def __init__(self, application: App) -> None:
        self.store = application.store
        self.settings = application.settings
        self.materials = application.settings.section(MaterialsSettings)
        self.schedule = Schedule()

    async def run(self) -> None:
        """For ever; nothing to do where nobody is to be told."""
        if not (self.materials.materials_notify_url or self.materials.materials_mail_url):
            return
        key = await asyncio.to_thread(key_for, self.settings)
        if key is None:
            log.warning("material_notices_unsigned", remedy="set DOCPROC_CALLBACK_SECRET")
        # The address is the operator's own, not a stranger's: it may be a private one.
        resolver = Resolver(allow_private=True)
        async with Poster(key or b"", resolver, self.settings.callback_timeout_seconds) as poster:
            while True:
                with contextlib.suppress(SQLAlchemyError, OSError):
                    for notice in await self._claimed():
                        await self._ended(notice, await self._sent(poster, notice))
                await asyncio.sleep(_LOOK_SECONDS)

    async def _claimed(self) -> Sequence[MaterialNotice]:
        """Due ones, for this worker alone: whoever moves `due_at` first has it."""
        now = utc_now()
        query = select(MaterialNotice).where(MaterialNotice.sent_at.is_(None), MaterialNotice.due_at <= now)
        async with self.store.reading() as session:
            due = list(await session.scalars(query.order_by(MaterialNotice.due_at).limit(_AT_ONCE)))
        mine = []
        for notice in due:
            async with self.store.writing() as session:
                claimed = await session.execute(
                    update(MaterialNotice)
                    .where(MaterialNotice.id == notice.id, MaterialNotice.due_at == notice.due_at)
                    .values(due_at=_later(_CLAIM_SECONDS))
                    .returning(MaterialNotice.id)
                )
                if claimed.first():
                    mine.append(notice)
        return mine

    async def _sent(self, poster: Poster, notice: MaterialNotice) -> Reply:
        if notice.way == WEBHOOK:
            body = orjson.dumps(notice.content).decode()
            due = Due(
                notice.id, notice.request_id, notice.tenant_id, 1, notice.address, body, notice.attempts,
                notice.created_at,
            )  # fmt: skip
            return await poster.post(due)
        try:
            await asyncio.to_thread(self._mail, notice)
        except (OSError, smtplib.SMTPException) as error:
            return Reply(error=type(error).__name__)
        return Reply(status=200)

    def _mail(self, notice: MaterialNotice) -> None:
        assert self.materials.materials_mail_url is not None
        message = EmailMessage()
        message["From"], message["To"] = self.materials.materials_mail_from, notice.address
        message["Subject"], text = mail_text(notice.content, self.materials.materials_language)
        message["Message-ID"] = f"<{notice.id}@docproc>"
        message.set_content(text)
        mail.send(self.materials.materials_mail_url.get_secret_value(), message)

    async def _ended(self, notice: MaterialNotice, reply: Reply) -> None:
        age = (utc_now() - notice.created_at).total_seconds()
        decision = self.schedule.decide(reply, notice.attempts + 1, age, random.random())
        values: dict[str, object] = {"attempts": notice.attempts + 1}
        if decision.outcome is AttemptOutcome.DELIVERED:
            values |= {"sent_at": utc_now(), "problem": None}
        else:
            values["problem"] = reply.error or f"HTTP {reply.status}"
            values["due_at"] = _later(decision.delay_seconds)
        if decision.outcome is AttemptOutcome.GIVEN_UP:
            values["sent_at"] = utc_now()  # nobody will try again; `problem` says that it did not arrive
            log.error("material_notice_given_up", notice=str(notice.id), way=notice.way)
        async with self.store.writing() as session:
            await session.execute(update(MaterialNotice).where(MaterialNotice.id == notice.id).values(values))


def _later(seconds: float) -> datetime:
    return utc_now() + timedelta(seconds=seconds)
