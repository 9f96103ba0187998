"""The door: who is told of an ending, what a refused event comes to, and mails over SMTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import pytest

from docproc.app import App
from docproc.apps.materials.components import fetch
from docproc.apps.materials.door.broker import Arrived
from docproc.apps.materials.door.door import Door
from docproc.apps.materials.door.endings import Endings, telling
from docproc.apps.materials.door.notifier import Notifier
from docproc.apps.materials.notices import MAIL
from docproc.apps.materials.tables import MaterialNotice
from docproc.engine.message import PipelineMessage
from docproc.engine.running.intake import Submission
from docproc.engine.running.work import Outcome, Work
from docproc.engine.transport import Delivery
from docproc.errors import QuotaError
from tests.harness import settings_for
from tests.smtp import mailbox


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = App(settings_for(tmp_path))
    await app.prepare_database()
    yield app
    await app.close()


class Desk:
    """A broker that keeps how deliveries were settled."""

    queue, dead_letter_queue = "material_processing_high", "material_processing_dlq"

    def __init__(self) -> None:
        self.settled: list[str] = []

    async def ack(self, arrived: Arrived) -> None:
        self.settled.append("ack")

    async def reject(self, arrived: Arrived, *, requeue: bool) -> None:
        self.settled.append("requeued" if requeue else "rejected")


def arrived(**payload: str) -> Arrived:
    said = {"event_id": uuid4().hex, "event_type": "material_uploaded", "payload": payload}
    message: Any = None
    return Arrived(orjson.dumps(said), {}, False, message)


async def test_event_over_the_quota_goes_back_to_the_queue_and_is_no_dead_letter(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk: Any = Desk()
    door = Door(app, desk, Endings())
    door._pause = 0.01

    async def full(*given: Any) -> Any:
        raise QuotaError("2 requests of 'default' are open", retry_seconds=10)

    monkeypatch.setattr(app.intake, "accept", full)
    await door._take(arrived(material_id="m-1", file_url="s3://files/a.pdf"))
    assert desk.settled == ["requeued"]
    assert door._pause == 0.02  # the next one waits longer: no hot loop


@pytest.mark.parametrize(("component_name", "told"), [("unknown", 1), ("material_worker", 0)])
async def test_process_without_the_door_says_who_takes_the_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, component_name: str, told: int
) -> None:
    """As `docproc up`, which runs the stages."""
    url = "amqp://127.0.0.1"
    settings = settings_for(tmp_path, materials_rabbitmq_url=url, component_name=component_name)
    said: list[str] = []
    monkeypatch.setattr(fetch.log_lines, "warning", lambda event, **facts: said.append(facts["remedy"]))
    await App(settings).component("material_fetch").setup()
    assert len(said) == told and all("docproc material worker" in remedy for remedy in said)


async def test_holder_is_told_of_the_last_stage_and_of_failures_only() -> None:
    endings = Endings()
    middleware = telling(endings, "material_store")()
    request_id = uuid4()

    async def handled(component: str, outcome: Outcome) -> bool:
        message = PipelineMessage(request_id=request_id)
        work = Work(message, Delivery("q", b"", message.message_id), component)

        async def handle(works: Any) -> None:
            work.ended(outcome)

        with endings.watched(request_id) as news:
            await middleware([work], handle)
            return news.is_set()

    assert not await handled("material_text", Outcome.DONE)
    assert await handled("material_store", Outcome.DONE)
    assert await handled("material_text", Outcome.RETRY)
    assert await handled("material_text", Outcome.DEAD)
    with endings.watched(request_id) as one, endings.watched(request_id) as other:
        endings.tell_all()
        assert one.is_set() and other.is_set()


async def test_teacher_gets_a_mail_over_smtp(tmp_path: Path) -> None:
    """C18: sent once, with its subject on one line, whatever the title says."""
    async with mailbox() as mails:
        settings = settings_for(
            tmp_path,
            materials_mail_url=f"smtp://127.0.0.1:{mails.port}",
            materials_mail_from="school@example.org",
            materials_language="es",
        )
        app = App(settings)
        await app.prepare_database()
        request_id = await app.intake.submit(Submission("materials", {}, request_id=uuid4()))
        content = {
            "event_type": "material_completed",
            "material_id": "m-1",
            "title": "La célula\r\nBcc: a@b.c",
            "total_questions": 8,
        }
        async with app.store.writing() as session:
            session.add(
                MaterialNotice(
                    tenant_id="default", request_id=request_id, way=MAIL, address="ana@example.org",
                    content=content,
                )
            )  # fmt: skip
        telling_them = asyncio.create_task(Notifier(app).run())
        async with asyncio.timeout(20):
            while not await _sent(app):
                await asyncio.sleep(0.02)
        telling_them.cancel()
        await asyncio.gather(telling_them, return_exceptions=True)
        await app.close()
    [mail] = mails.messages
    assert (mail["To"], mail["From"]) == ("ana@example.org", "school@example.org")
    assert mail["Subject"].startswith("Listo") and "\n" not in mail["Subject"] and mail["Bcc"] is None
    assert "8 preguntas" in mail.get_content()


async def _sent(app: App) -> bool:
    from sqlalchemy import select

    async with app.store.reading() as session:
        notice = (await session.scalars(select(MaterialNotice))).one()
    return notice.sent_at is not None and notice.problem is None
