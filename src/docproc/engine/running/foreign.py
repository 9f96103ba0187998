"""Messages of other systems: no row stands for them; a note in the inbox makes their effects happen once."""

from __future__ import annotations

from sqlalchemy import Connection, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import PipelineMessage
from docproc.engine.running.outbox import Outbox
from docproc.engine.running.work import Work
from docproc.engine.store import messages, rows
from docproc.engine.store.messages import AlreadyHandled
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Inbox, Request
from docproc.engine.transport import Delivery
from docproc.errors import PermanentError


def claim(store: Store, work: Work) -> messages.Claim:
    """Instead of removing a row: the first note of its id wins."""
    values = rows.values_for(
        store.dialect,
        {"id": work.message.message_id, "queue": work.delivery.queue, "tenant": work.message.tenant_id},
    )
    statement = text(
        f"INSERT INTO {Inbox.__tablename__} (message_id, queue, tenant_id, received_at) "
        f"VALUES (:id, :queue, :tenant, {store.clock}) ON CONFLICT DO NOTHING"
    )

    def take(connection: Connection) -> None:
        if connection.execute(statement, values).rowcount == 0:
            raise AlreadyHandled(work.message.message_id)

    return take


async def was_here(session: AsyncSession, message: PipelineMessage) -> bool:
    """Whether an event or a letter tells of it: then this is a copy that came twice."""
    found = await rows.execute(
        session,
        "SELECT 1 FROM events WHERE request_id = :request AND message_id = :id "
        "UNION ALL SELECT 1 FROM dead_letters WHERE message_id = :id LIMIT 1",
        request=message.request_id,
        id=message.message_id,
    )
    return bool(found)


async def unit_for_join(
    outbox: Outbox, delivery: Delivery, message: PipelineMessage
) -> PipelineMessage | None:
    """A message on a join's queue that none of us has sent, if it names a request of ours and that join.

    Joins count units by name, as the specification says, whoever brings them. Where the request belongs and
    which flow it follows is what its row says, not the message.
    """
    async with outbox.store.reading() as session:
        query = select(Request.tenant_id, Request.workflow_name, Request.workflow_version)
        request = (await session.execute(query.where(Request.id == message.request_id))).first()
        if request is None or await was_here(session, message):
            return None
    ours = message.model_copy(update={**request._mapping, "failure": None})
    try:
        step = (await outbox.versions.router(ours)).plan.steps.get(ours.current_stage)
    except PermanentError:
        return None
    return ours if step and step.is_join and step.queue == delivery.queue else None
