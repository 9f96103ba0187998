"""Handler: one short transaction that removes the messages, writes the state and inserts the outputs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import cast

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import BaseComponent, Emission
from docproc.engine.running import foreign
from docproc.engine.running.chaining import Chain
from docproc.engine.running.outbox import Outbox
from docproc.engine.running.performing import is_streaming, perform
from docproc.engine.running.relay import Relay
from docproc.engine.running.sending import Handled
from docproc.engine.running.work import LogFields, Outcome, Work
from docproc.engine.store import events, messages, rows
from docproc.engine.store.messages import AlreadyHandled, PartlyHandled
from docproc.engine.store.session import Store

# How many children of a streamed fan-out share one transaction: few at first, so that others can begin.
FIRST_CHUNK = 50
STREAM_CHUNK = 500


class Handler:
    """Runs the component and commits its effects once. The innermost part of the middleware."""

    def __init__(
        self,
        component: BaseComponent,
        store: Store,
        outbox: Outbox,
        relay: Relay,
        chain: Chain,
        log_fields: LogFields,
        *,
        leases: bool,
    ) -> None:
        self.component = component
        self.store = store
        self.outbox = outbox
        self.relay = relay
        self.chain = chain
        self.log_fields = log_fields
        # Rows are removed only under my lease where there are leases; else by whoever commits first.
        self.lease = outbox.worker_id if leases else None
        self.streams = is_streaming(component)

    async def __call__(self, works: Sequence[Work]) -> None:
        if len(works) > 1:
            await self._group(works)
        elif self.streams:
            await self._stream(works[0])
        else:
            await self.commit(works, self.claim(works[0]))

    async def _group(self, works: Sequence[Work]) -> None:
        """Group commit; as for one message, the transaction begins when the component touches the session."""
        todo = list(works)
        while todo:
            try:
                ids = [work.message.message_id for work in todo]
                return await self.commit(todo, messages.claim_many(self.store, ids, self.lease))
            except PartlyHandled as news:
                for work in todo:
                    if work.message.message_id not in news.left:
                        work.ended(Outcome.REPEATED)
                todo = [work for work in todo if work.message.message_id in news.left]

    async def commit(self, works: Sequence[Work], claim: messages.Claim) -> None:
        """One transaction: remove the rows, do the work, go on with what can be done here, send the rest."""
        async with self.store.handling(claim) as session:
            events.gather(session)
            await perform(self.component, works, session)
            sending = await self.outbox.route(session, [work.handled for work in works])
            chained = await self.chain.follow(session, works, sending)
            copies = await self.outbox.write(session, sending)
            await events.record(session, [self._note(work) for work in (*works, *chained)])
            await events.write(session)
        await self.relay.publish(copies)
        await self.chain.tell(chained)

    def _note(self, work: Work) -> events.Event:
        """The event of a handled message, with what was found and how sure that is, for the monitor."""
        result = work.described(self.log_fields).get("resultado", {})
        found = {"type": result.get("tipo"), "confidence": result.get("confianza")}
        known = {name: value for name, value in found.items() if value is not None}
        return work.event(self.outbox.worker_id, known or None)

    async def _stream(self, work: Work) -> None:
        """A large fan-out: each chunk commits with the cursor moved, the last one removes the message."""
        async with self.store.handling(self._touch(work)) as session:
            produced = self.component.process_message(work.message, session)
            chunk: list[Emission] = []
            size = min(FIRST_CHUNK, STREAM_CHUNK)
            seen = 0
            async for emission in cast(AsyncIterator[Emission], produced):
                seen += 1
                if seen <= work.cursor:
                    continue  # committed before a crash
                chunk.append(emission)
                if len(chunk) == size:
                    await self._commit_chunk(session, work, chunk, seen)
                    chunk = []
                    size = min(size * 2, STREAM_CHUNK)
            copies = await self.outbox.dispatch(session, [Handled(work.message, chunk)])
            await rows.execute(session, "DELETE FROM messages WHERE id = :id", id=work.message.message_id)
            work.ended(Outcome.DONE)
            await events.record(session, [work.event(self.outbox.worker_id, {"emitted": seen})])
        await self.relay.publish(copies)

    async def _commit_chunk(
        self, session: AsyncSession, work: Work, chunk: list[Emission], seen: int
    ) -> None:
        copies = await self.outbox.dispatch(session, [Handled(work.message, chunk)], more_to_come=True)
        await rows.execute(
            session,
            "UPDATE messages SET cursor = :seen WHERE id = :id",
            seen=seen,
            id=work.message.message_id,
        )
        await session.commit()
        work.cursor = seen
        await self.relay.publish(copies)

    def claim(self, work: Work) -> messages.Claim:
        """The statements that begin the transaction; for another system's message, a note in the inbox."""
        if work.is_foreign:
            return foreign.claim(self.store, work)
        return messages.claim_one(self.store, work.message.message_id, self.lease)

    def _touch(self, work: Work) -> messages.Claim:
        """Each chunk's transaction begins by locking the parent's row, and only while it is mine.

        The cursor must be where this stream left it: on a broker two copies may stream at once.
        """
        mine = " AND worker_id = :worker" if self.lease else ""
        statement = text(f"UPDATE messages SET cursor = cursor WHERE id = :id AND cursor = :cursor{mine}")

        def touch(connection: Connection) -> None:
            values = {"id": work.message.message_id, "cursor": work.cursor}
            values |= {"worker": self.lease} if self.lease else {}
            if connection.execute(statement, rows.values_for(self.store.dialect, values)).rowcount == 0:
                raise AlreadyHandled(work.message.message_id)

        return touch
