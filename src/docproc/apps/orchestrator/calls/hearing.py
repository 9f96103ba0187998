"""Answers that go on at once: a service's result ends its call in one transaction, without a message in
between.

Most answers are that simple: a result for a step that waits for it. Whatever else services say (progress,
questions for tools, failures, tools' results) becomes a message of the engine (adopting.py), and so does what
cannot be handled here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from docproc.apps.orchestrator.calls import adopting, rows
from docproc.apps.orchestrator.calls.answering import Heard
from docproc.apps.orchestrator.envelope.errors import EnvelopeError
from docproc.apps.orchestrator.envelope.models import Envelope, Status
from docproc.apps.orchestrator.tables import Call, CallState
from docproc.engine.component import BaseComponent
from docproc.engine.message import SAGA, PipelineMessage
from docproc.engine.store.messages import Claim
from docproc.engine.store.session import Store
from docproc.engine.store.tables import RequestStatus

# Requests that go on with nothing: what is heard for them is kept as a message, or dropped (caller.py).
_OVER = {RequestStatus.FAILED.value, RequestStatus.COMPENSATING.value, rows.CANCELLED}


class Hearing:
    """One per process."""

    def __init__(self, store: Store, component: BaseComponent, ended: Callable[[UUID], object]) -> None:
        """`ended` is told of calls that are over."""
        self._store = store
        self._component = component
        self._ended = ended
        # By the messages' ids, while they are handled.
        self._at_hand: dict[UUID, Heard] = {}

    def of(self, messages: Sequence[PipelineMessage]) -> Mapping[UUID, Heard] | None:
        """What was heard for these messages; None where they are rows of the engine."""
        return self._at_hand if all(one.message_id in self._at_hand for one in messages) else None

    async def __call__(self, bodies: Sequence[bytes]) -> list[bytes]:
        """End the calls that these answer; returns those answers that are left for `adopting.adopt`."""
        handle = self._component.handle_at_once
        results = {number: one for number, body in enumerate(bodies) if (one := _result(body))}
        if handle is None or not results:
            return list(bodies)
        found = await self._read(results)
        self._at_hand |= {message.message_id: heard for message, heard in found.values()}
        try:
            done = await handle([message for message, _ in found.values()], self._claim)
        finally:
            for message, _ in found.values():
                self._at_hand.pop(message.message_id, None)
        settled = {number for number, (message, _) in found.items() if message.message_id in done}
        for number in settled:
            self._ended(found[number][1].call.id)
        return [body for number, body in enumerate(bodies) if number not in settled]

    async def _read(self, results: Mapping[int, Envelope]) -> dict[int, tuple[PipelineMessage, Heard]]:
        """What can be handled at once, by its place in `results`; of several answers to a call the first."""
        async with self._store.reading() as session:
            ids = {adopting.call_id_of(one) for one in results.values()}
            calls, statuses = await rows.with_statuses(session, ids)
        found: dict[int, tuple[PipelineMessage, Heard]] = {}
        for number, envelope in results.items():
            call = calls.pop(adopting.call_id_of(envelope), None)
            if call is None or statuses[call.request_id] in _OVER or not _is_plain(call, envelope):
                continue
            step = PipelineMessage.parse(call.message)
            if SAGA not in step.payload:
                # As it would be written, but for what the service said: that is at hand.
                message = adopting.answer_of(step, call, envelope.message_id, {})
                found[number] = message, Heard(call, envelope, step)
        return found

    def _claim(self, messages: Sequence[PipelineMessage]) -> Claim:
        calls = {one.message_id: self._at_hand[one.message_id].call for one in messages}
        return rows.claim_open(self._store.dialect, calls)


def _result(body: bytes) -> Envelope | None:
    """None: something else, or nothing that can be read."""
    try:
        envelope = adopting.readable(body)
    except EnvelopeError:
        return None
    return envelope if envelope.status is Status.COMPLETED else None


def _is_plain(call: Call, envelope: Envelope) -> bool:
    """Whether a step waits for exactly this."""
    if call.state != CallState.OPEN.value or call.fencing != envelope.metadata.fencing:
        return False
    if call.parent_id is not None or call.is_one_way:
        return False
    try:
        adopting.checked(call, envelope, None)
    except EnvelopeError:
        return False
    return True
