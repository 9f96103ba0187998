"""Events become requests, once each, with the event's own bytes kept beside them."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from docproc.app import App
from docproc.apps.materials.events import Uploaded
from docproc.apps.materials.order import CHANNEL, PAYLOAD_KEY, WORKER, WORKFLOW
from docproc.apps.materials.tables import MaterialDelivery
from docproc.engine.running import dead_letters
from docproc.engine.running.intake import Submission
from docproc.engine.store.tables import DeadLetter
from docproc.errors import QuotaError


class EventIntake:
    def __init__(self, application: App) -> None:
        self.application = application

    async def submit(self, event: Uploaded, body: bytes, queue: str, *, seen: bool) -> tuple[UUID, bool]:
        """The request that stands for the event, and whether it is new; `seen`: it was delivered before.

        The request, its first message and the event's bytes are one transaction. Raises ReusedKeyError for an
        event id that came before with something else in it, and what the database does.
        """
        intake = self.application.intake
        submission = _submission(event)
        # Most events are new: the unique index says so while it is written down.
        if seen and (known := await intake.known(submission)):
            return known, False
        try:
            async with self.application.store.writing() as session:
                copies = await intake.accept(session, submission)
                session.add(MaterialDelivery(request_id=submission.request_id, queue=queue, body=body))
        except (IntegrityError, QuotaError):
            # The same event again, or at two workers at once: it was let in, and takes nothing of the quota.
            if known := await intake.known(submission):
                return known, False
            raise
        await self.application.relay.hand_over(copies)
        return submission.request_id, True

    async def resume(self, request_id: UUID) -> bool:
        """Go on with a request that failed, at the stage where it did: what was paid for is not paid again.

        False where there is nothing to go on with.
        """
        query = select(DeadLetter.id).where(
            DeadLetter.request_id == request_id, DeadLetter.settled_at.is_(None)
        )
        async with self.application.store.reading() as session:
            letters = list(await session.scalars(query))
        for letter in letters:
            _, copies = await dead_letters.replay(self.application.outbox, letter)
            await self.application.relay.hand_over(copies)
        return bool(letters)


def _submission(event: Uploaded) -> Submission:
    order = event.order
    return Submission(
        workflow=WORKFLOW,
        payload={PAYLOAD_KEY: order.model_dump(mode="json")},
        channel=CHANNEL,
        external_id=order.material_id,
        metadata={"material_id": order.material_id, "school_id": order.school_id, "title": order.title},
        idempotency_key=str(event.event_id),
        content_hash=event.content_hash,
        source_component=WORKER,
    )
