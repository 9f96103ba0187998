"""Taking in what services say: progress is noted at once, everything else becomes a message of the engine.

So an answer is durable before the wire forgets it, whoever handles it and however often it comes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID, uuid5

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.calls import rows, telling
from docproc.apps.orchestrator.envelope import reading
from docproc.apps.orchestrator.envelope.errors import Code, EnvelopeError, refuse
from docproc.apps.orchestrator.envelope.models import Envelope, Status
from docproc.apps.orchestrator.tables import Call, CallState
from docproc.engine.message import SAGA, PipelineMessage
from docproc.engine.store import events, messages
from docproc.engine.store.messages import Outgoing
from docproc.engine.store.tables import MessageState

log = structlog.get_logger(__name__)

# The queue of the component that calls services, and of what they answer.
QUEUE: Final = "q.service_call"
# In the payload of a message there: what a service said, or that it said nothing in time.
ANSWER, TIMED_OUT, FENCING = "answer", "timed_out", "fencing"
TOOL_REQUEST: Final = "tool_request"


@dataclass(slots=True)
class Adopted:
    """What became of a group of answers."""

    # Messages were written for the component that handles answers: it wants to be woken.
    has_news: bool = False
    # What cannot be used, by its place in the group.
    refused: dict[int, EnvelopeError] = field(default_factory=dict)


# Writes messages to a queue, and has them delivered after the commit (Context.post).
Post = Callable[[AsyncSession, str, Sequence[PipelineMessage]], Awaitable[None]]


async def adopt(
    session: AsyncSession,
    bodies: Sequence[bytes],
    tenant_id: str | None = None,
    post: Post | None = None,
) -> Adopted:
    """Take in what services said, in one transaction; what cannot be used is refused and the rest taken.

    `tenant_id` is the only one that may be spoken of, where somebody was asked who they are. Without `post`,
    the caller wakes the component if there are news.
    """
    found = Adopted()
    envelopes: dict[int, Envelope] = {}
    for number, body in enumerate(bodies):
        try:
            envelopes[number] = readable(body)
        except EnvelopeError as error:
            found.refused[number] = error
    calls = await rows.by_id(session, [call_id_of(one) for one in envelopes.values()])
    answers: list[PipelineMessage] = []
    notes: list[events.Event] = []
    for number, envelope in envelopes.items():
        try:
            call = checked(calls.get(call_id_of(envelope)), envelope, tenant_id)
        except EnvelopeError as error:
            found.refused[number] = error
            continue
        if call.state != CallState.OPEN.value or call.fencing != envelope.metadata.fencing:
            continue  # it is over, or a newer envelope took this one's place
        if _is_progress(envelope):
            notes += await _progress(session, call, envelope)
        else:
            answers.append(answer_message(call, envelope.message_id, {ANSWER: envelope.as_dict()}))
    if post is not None:
        await post(session, QUEUE, answers)
    else:
        await send(session, [Outgoing.of(message, QUEUE) for message in answers])
    await events.record(session, notes)
    found.has_news = bool(answers)
    for refused in found.refused.values():
        log.warning("service_answer_refused", code=refused.code, problem=str(refused))
    return found


def answer_message(call: Call, event_id: UUID | str, payload: dict[str, Any]) -> PipelineMessage:
    """A message that goes on with a call: the step's own, under an id that what happened always has."""
    return answer_of(PipelineMessage.parse(call.message), call, event_id, payload)


def answer_of(
    step: PipelineMessage, call: Call, event_id: UUID | str, payload: dict[str, Any]
) -> PipelineMessage:
    """The same where the step's message was read already."""
    saga = {SAGA: step.payload[SAGA]} if SAGA in step.payload else {}
    said = {**saga, **payload, "call_id": str(call.id), FENCING: call.fencing}
    return step.model_copy(update={"message_id": uuid5(call.id, str(event_id)), "payload": said})


async def send(session: AsyncSession, outgoing: Sequence[Outgoing]) -> None:
    """Messages that may have been written before: the first one counts."""
    unique = list({one.message.message_id: one for one in outgoing}.values())
    if unique:
        await messages.send(session, unique, state=MessageState.READY, worker_id=None, on_conflict="nothing")


def readable(body: bytes) -> Envelope:
    envelope = reading.parsed(body)
    if envelope.metadata.call_id is None or envelope.metadata.fencing is None:
        raise refuse(
            Code.REQUIRED,
            "metadata.call_id",
            "it does not say which call it answers",
            "Copy metadata.call_id and metadata.fencing from the message that is answered",
        )
    return envelope


def call_id_of(envelope: Envelope) -> UUID:
    assert envelope.metadata.call_id is not None
    return envelope.metadata.call_id


def checked(call: Call | None, envelope: Envelope, tenant_id: str | None) -> Call:
    """Raises EnvelopeError. Another tenant's call is not there at all."""
    if call is None or tenant_id not in (None, call.tenant_id):
        raise refuse(
            Code.SERVICE,
            "metadata.call_id",
            "there is no such call",
            "Copy it from the message that is answered",
        )
    reading.check_unchanged(call.envelope, envelope)
    return call


def _is_progress(envelope: Envelope) -> bool:
    return envelope.status is Status.PROCESSING and TOOL_REQUEST not in envelope.payload


async def _progress(session: AsyncSession, call: Call, envelope: Envelope) -> list[events.Event]:
    percent = envelope.payload.get("progress")
    if not isinstance(percent, int | float) or isinstance(percent, bool):
        return [telling.of_step(call, "processing")]
    whole = max(0, min(100, round(percent)))
    if not await rows.note_progress(session, call, whole):
        return []
    return [telling.of_progress(call, whole, str(envelope.payload.get("message", ""))[:500])]
