"""Dead letters: what could not be handled is kept whole, its unit counted as failed, and can be replayed."""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import BaseComponent
from docproc.engine.message import Failure, PipelineMessage, utc_now
from docproc.engine.running import foreign, sagas
from docproc.engine.running.outbox import Outbox
from docproc.engine.running.sending import Handled
from docproc.engine.running.work import Outcome, Work
from docproc.engine.store import events, messages, requests, rows
from docproc.engine.store.messages import Outgoing
from docproc.engine.store.tables import DeadLetter, Message, MessageState, Request, RequestStatus
from docproc.engine.transport import Copy, Delivery
from docproc.engine.workflow.definition import OnFailure
from docproc.engine.workflow.plan import Step
from docproc.engine.workflow.routing import Route
from docproc.errors import DocProcError, MessageError, PermanentError
from docproc.harmless import text_for_events, traceback_for_logs

TABLE: Any = DeadLetter.__table__
UNKNOWN = "nobody here has sent it: there is no such message in the database"


def describe(error: BaseException) -> str:
    """An error in full, for a dead letter, which keeps the message too: ours speak for themselves."""
    if isinstance(error, DocProcError | SQLAlchemyError):
        return text_for_events(error)
    return f"{type(error).__name__}: {error}"


async def bury(
    work: Work, error: Exception, component: BaseComponent, outbox: Outbox, claim: messages.Claim
) -> list[Copy]:
    """Move a message to the dead letters and let its request go on without it, in one transaction."""
    history = await _history(outbox, work, error)
    async with outbox.store.handling(claim) as session:
        await rows.insert(session, TABLE, [_letter(work, error, history)])
        copies = await _after(session, work, error, component, outbox)
        work.ended(Outcome.DEAD)
        await events.record(session, [work.event(outbox.worker_id, {"error": text_for_events(error)})])
    return copies


async def bury_raw(outbox: Outbox, delivery: Delivery, error: MessageError) -> None:
    """Keep what could not even be read, with its raw bytes."""
    async with outbox.store.writing() as session:
        request_id = await _request_of(session, delivery)
        if delivery.message_id is not None:
            await rows.execute(session, "DELETE FROM messages WHERE id = :id", id=delivery.message_id)
        letter: dict[str, Any] = {
            "message_id": delivery.message_id,
            "request_id": request_id,
            "queue": delivery.queue,
            "reason": str(error),
            "attempts": 1,
            "history": [],
            "body": error.raw or delivery.body,
        }
        await rows.insert(session, TABLE, [letter])
        note = events.Event(request_id, "dead_letter", outcome=Outcome.DEAD, data={"error": str(error)})
        await events.record(session, [note])
        if request_id is not None:  # nobody can say which unit it was, so it cannot arrive as failed
            await requests.fail(session, request_id, {"code": "unreadable", "message": str(error)})


async def bury_unknown(outbox: Outbox, delivery: Delivery, message: PipelineMessage) -> bool:
    """Keep a readable message that nobody here has sent; False when it was handled, or kept, before.

    It changes nothing about the request that it names: anybody who reaches the broker may name one.
    """
    async with outbox.store.writing() as session:
        if await foreign.was_here(session, message):
            return False
        known = await session.get(Request, message.request_id)
        letter: dict[str, Any] = {
            "message_id": message.message_id,
            "request_id": message.request_id if known else None,
            "queue": delivery.queue,
            "stage": message.current_stage,
            "unit_key": message.unit_key,
            "reason": UNKNOWN,
            "attempts": 0,
            "history": [],
            "body": delivery.body,
        }
        await rows.insert(session, TABLE, [letter])
        note = events.Event(None, "dead_letter", outcome=Outcome.DEAD, data={"error": UNKNOWN})
        await events.record(session, [note])
    return True


async def _request_of(session: AsyncSession, delivery: Delivery) -> UUID | None:
    """The row knows whose message it was, even when its body cannot be read."""
    if delivery.message_id is None:
        return None
    return await session.scalar(select(Message.request_id).where(Message.id == delivery.message_id))


async def replay(outbox: Outbox, letter_id: UUID) -> tuple[UUID, list[Copy]]:
    """Send a dead letter again as a new message and reopen its request; returns the new message's id."""
    async with outbox.store.writing() as session:
        letter = await _open_letter(session, letter_id)
        message = PipelineMessage.parse(letter.body).model_copy(
            update={
                "message_id": uuid4(),
                "replay_of": letter.message_id,
                "attempt": 1,
                "failure": None,
                "created_at": utc_now(),
            }
        )
        status = await _status_of(outbox, message)
        await requests.reopen(session, message.request_id, status=status, reason=f"replay of {letter_id}")
        await messages.resume_request(session, message.request_id)
        # Left ready: a broker's relay picks it up like any message that a crash left unpublished.
        outgoing = [Outgoing.of(message, letter.queue)]
        await messages.send(session, outgoing, state=MessageState.READY, worker_id=None)
        letter.replayed_as = message.message_id
        letter.settled_at = utc_now()
        exchange, key = outbox.topology.bindings.get(letter.queue, ("", letter.queue))
    copy = Copy(message.message_id, exchange, key, letter.queue, message.priority, message.encode())
    return message.message_id, [copy]


async def discard(outbox: Outbox, letter_id: UUID) -> None:
    """Nothing more will be done about it; the row stays as history."""
    async with outbox.store.writing() as session:
        (await _open_letter(session, letter_id)).settled_at = utc_now()


async def listing(session: AsyncSession, *, everything: bool = False) -> Sequence[DeadLetter]:
    query = select(DeadLetter).order_by(DeadLetter.created_at)
    if not everything:
        query = query.where(DeadLetter.settled_at.is_(None))
    return (await session.execute(query)).scalars().all()


async def _open_letter(session: AsyncSession, letter_id: UUID) -> DeadLetter:
    query = select(DeadLetter).where(DeadLetter.id == letter_id).with_for_update()
    letter = (await session.execute(query)).scalar_one_or_none()
    if letter is None:
        raise PermanentError(f"there is no dead letter {letter_id}", remedy="See docproc deadletters list")
    if letter.settled_at is not None:
        done = f"replayed as {letter.replayed_as}" if letter.replayed_as else "discarded"
        raise PermanentError(
            f"dead letter {letter_id} was already {done}",
            remedy="If it failed again, docproc deadletters list has the new letter",
        )
    return letter


async def _status_of(outbox: Outbox, message: PipelineMessage) -> str:
    if not message.current_stage:
        return RequestStatus.ROUTING
    router = await outbox.versions.router(message)
    step = router.plan.steps.get(message.current_stage)
    return (step.component.status if step else None) or RequestStatus.PROCESSING


async def _after(
    session: AsyncSession, work: Work, error: Exception, component: BaseComponent, outbox: Outbox
) -> list[Copy]:
    """The component may offer a substitute; else the unit arrives at its join as failed, or all fails."""
    message = work.message.without_secrets()
    substitute = await component.after_exhausted(message, error, session)
    if substitute:
        return await outbox.dispatch(session, [Handled(message, substitute)])
    step = work.step
    failure = Failure(
        stage=message.current_stage,
        component=component.component_name,
        error=text_for_events(error),
        message_id=message.message_id,
    )
    # A join that fails cannot report to itself.
    if step and step.collected_by and not step.is_join and step.on_failure is OnFailure.CONTINUE:
        router = await outbox.versions.router(message)
        join = router.plan.step(step.collected_by)
        failed = message.model_copy(update={"failure": failure})
        return await outbox.send(session, router, [router.arrive_failed(failed, join)])
    unit = {"unit": message.unit_key or "request", **failure.model_dump(mode="json")}
    # An error with a code of its own says what was wrong with the request, not where it showed.
    code = getattr(error, "code", None) if isinstance(error, DocProcError) else None
    said = failure.error if code else f"{message.current_stage}: {failure.error}"
    explanation = {"code": code or "stage_failed", "message": said}
    problem = {**explanation, "units": [unit]}
    if step is not None and (undoing := await _undone(session, outbox, message, step, problem)) is not None:
        return undoing
    await requests.fail(session, message.request_id, problem)
    return []


async def _undone(
    session: AsyncSession, outbox: Outbox, message: PipelineMessage, step: Step, problem: dict[str, Any]
) -> list[Copy] | None:
    """What was done before is undone first, where the flow says how; None: there is nothing to undo."""
    router = await outbox.versions.router(message)
    if step.is_compensation:
        routes: Sequence[Route] | None = await sagas.go_on(session, router, message, has_failed=True)
    else:
        routes = await sagas.begin(session, router, message, problem)
    return None if routes is None else await outbox.send(session, router, routes)


async def _history(outbox: Outbox, work: Work, error: Exception) -> list[dict[str, Any]]:
    async with outbox.store.reading() as session:
        kept = await session.scalar(select(Message.history).where(Message.id == work.message.message_id))
    return [*json.loads(kept or "[]"), attempt_note(work, error)]


def attempt_note(work: Work, error: Exception) -> dict[str, Any]:
    return {
        "attempt": work.message.attempt,
        "at": utc_now().isoformat(),
        "error": describe(error),
        "type": type(error).__name__,
        **({} if isinstance(error, DocProcError) else {"traceback": _traceback(error)}),
    }


def _traceback(error: Exception) -> str:
    """Where a component's own bug is; the end of it says most."""
    if isinstance(error, SQLAlchemyError):  # of anybody's rows, where several messages were handled together
        return traceback_for_logs(error)[-4000:]
    return "".join(traceback.format_exception(error))[-4000:]


def _letter(work: Work, error: Exception, history: list[dict[str, Any]]) -> dict[str, Any]:
    message = work.message.without_secrets()
    return {
        "message_id": message.message_id,
        "request_id": message.request_id,
        "tenant_id": message.tenant_id,
        "queue": work.delivery.queue,
        "stage": message.current_stage,
        "unit_key": message.unit_key,
        "reason": describe(error),
        "attempts": message.attempt,
        "history": history,
        "body": message.encode(),
    }
