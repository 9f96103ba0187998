"""Answers: what a service said ends its call, asks for a tool, or has the call tried again; each once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.calls import adopting, envelopes, rows, telling
from docproc.apps.orchestrator.calls.failures import TIMED_OUT, as_error, failure_of
from docproc.apps.orchestrator.calls.opening import (
    CallRefusedError,
    Opened,
    Question,
    decide,
    open_call,
)
from docproc.apps.orchestrator.envelope.models import Envelope, MessageType, Status
from docproc.apps.orchestrator.plans.step import tool_call_id
from docproc.apps.orchestrator.resilience.calls import Action, Decision, Next, Ticket, Verdict
from docproc.apps.orchestrator.resilience.failures import Failure
from docproc.apps.orchestrator.resilience.guard import Guard
from docproc.apps.orchestrator.resilience.policies import policy_of
from docproc.apps.orchestrator.services.catalogue import Catalogue, Service
from docproc.apps.orchestrator.tables import Call, CallState, Task
from docproc.engine.component import NEXT, Emission
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import messages
from docproc.engine.store.messages import Outgoing
from docproc.engine.store.session import Store
from docproc.engine.store.tables import MessageState

MOST_KEPT = 2000
# In a message's payload: the tool's call that is due for another attempt.
AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Heard:
    """A service's answer, with the call that waits for it as it was read a moment ago, and the step's
    message."""

    call: Call
    envelope: Envelope
    step: PipelineMessage


@dataclass(frozen=True, slots=True)
class Answer:
    """What is to be done about a call, decided before the transaction."""

    message: PipelineMessage
    call: Call
    # None: of an answer that only ends its call, for which nothing more was read.
    task: Task | None
    envelope: Envelope | None = None
    failure: Failure | None = None
    verdict: Verdict | None = None
    # The tool that an agent asked for.
    tool: tuple[Question, Decision] | None = None
    # Of a tool's call: the agent's, which goes on with the answer.
    parent: Call | None = None
    # The step's message, where somebody has read it already.
    step: PipelineMessage | None = None


class Answering:
    def __init__(
        self, store: Store, catalogue: Catalogue, guard: Guard, wake_delayed: Callable[[], None]
    ) -> None:
        self._store = store
        self._catalogue = catalogue
        self._guard = guard
        self._wake_delayed = wake_delayed
        # A group that fails is handled again one by one: the guard counts a call once all the same.
        self._verdicts: OrderedDict[tuple[UUID, int], Verdict] = OrderedDict()

    # --- before the transaction ---------------------------------------------------------------------

    async def prepare(self, message: PipelineMessage, call: Call | None, task: Task) -> Answer | None:
        """None: the call is over, or a newer envelope took the place of the one that was answered."""
        is_current = call is not None and call.fencing == message.payload.get(adopting.FENCING)
        if call is None or not is_current or call.state != CallState.OPEN.value:
            return None
        said = message.payload.get(adopting.ANSWER)
        envelope = Envelope.model_validate(said) if said else None
        if envelope is not None and envelope.status is Status.PROCESSING:
            return await self._tool(message, call, task, envelope)
        failure = None
        if envelope is None:
            failure = TIMED_OUT
        elif envelope.status is Status.FAILED:
            failure = failure_of(envelope.error)
        verdict = await self._verdict(call, failure, envelope)
        parent = await self._parent(call)
        answer = Answer(message, call, task, envelope, failure, verdict, parent=parent)
        if verdict.next is Next.FAIL and parent is None and not call.is_one_way:
            # The step failed: the engine keeps the message, and `failed` writes what became of the call.
            raise _refusal(call, failure)
        return answer

    async def prepare_heard(self, message: PipelineMessage, heard: Heard) -> Answer:
        """The same for a result that a step was waiting for."""
        verdict = await self._verdict(heard.call, None, heard.envelope)
        return Answer(message, heard.call, None, heard.envelope, verdict=verdict, step=heard.step)

    async def _verdict(self, call: Call, failure: Failure | None, envelope: Envelope | None) -> Verdict:
        service = self._catalogue.find(call.service)
        if call.ticket is None or service is None:
            return Verdict(Next.FAIL if failure else Next.DONE)
        key = (call.id, call.fencing)
        if key not in self._verdicts:
            self._verdicts[key] = await self._ask_guard(call, call.ticket, service, failure, envelope)
            while len(self._verdicts) > MOST_KEPT:
                self._verdicts.popitem(last=False)
        return self._verdicts[key]

    async def _ask_guard(
        self,
        call: Call,
        ticket: Mapping[str, Any],
        service: Service,
        failure: Failure | None,
        envelope: Envelope | None,
    ) -> Verdict:
        return await self._guard.after_call(
            Ticket.of(ticket),
            policy_of(service),
            seconds=(utc_now() - call.opened_at).total_seconds(),
            failure=failure,
            answer=envelope.payload if envelope else None,
            request_id=call.request_id,
        )

    async def _parent(self, call: Call) -> Call | None:
        if call.parent_id is None:
            return None
        async with self._store.reading() as session:
            return (await rows.by_id(session, [call.parent_id])).get(call.parent_id)

    async def _tool(self, message: PipelineMessage, call: Call, task: Task, envelope: Envelope) -> Answer:
        asked = envelope.payload[adopting.TOOL_REQUEST]
        question = await self._tool_question(call, task, asked)
        decision = await decide(self._guard, question)
        return Answer(message, call, task, envelope, tool=(question, decision))

    async def _tool_question(self, call: Call, task: Task, asked: Any) -> Question:
        asked = asked if isinstance(asked, Mapping) else {}
        key = str(asked.get("key") or asked.get("tool") or "tool")[:128]
        wanted = MessageType.model_validate(asked.get("type") or {"domain": "tool", "action": "execute"})
        service = self._service(asked.get("service"), wanted)
        own_id = tool_call_id(call.id, key)
        async with self._store.reading() as session:
            earlier = (await rows.by_id(session, [own_id])).get(own_id)
            others = (await rows.of_requests(session, [call.request_id]))[call.request_id]
        arguments = asked.get("arguments")
        return Question(
            id=own_id,
            task=task,
            service=service,
            type=wanted,
            payload={
                "tool": asked.get("tool"),
                "arguments": arguments if isinstance(arguments, Mapping) else {},
                "context": dict(task.envelope.get("payload", {})),
            },
            priority=call.priority,
            stage=call.stage,
            message=PipelineMessage.parse(call.message).model_copy(update={"attempt": 1}),
            earlier=earlier,
            parent=call,
            tool_key=key,
            others=others,
        )

    async def tool_again(self, message: PipelineMessage, call: Call, task: Task) -> Question | None:
        """A tool's call that is due for another attempt; None: it is not any more."""
        parent, service = await self._parent(call), self._catalogue.find(call.service)
        if parent is None or service is None or call.state != CallState.RETRYING.value:
            return None
        step = PipelineMessage.parse(call.message).model_copy(update={"attempt": message.attempt})
        return Question(
            id=call.id,
            task=task,
            service=service,
            type=MessageType(domain=call.domain, action=call.action),
            payload=call.envelope["payload"],
            priority=call.priority,
            stage=call.stage,
            message=step,
            earlier=call,
            parent=parent,
            tool_key=call.tool_key,
        )

    def _service(self, named: Any, wanted: MessageType) -> Service:
        name = "-".join(str(named).replace("_", " ").lower().split()) if named else ""
        service = self._catalogue.find(name) if name else self._catalogue.for_type(wanted)
        if service is None:
            raise CallRefusedError(
                f"a tool was asked of {name or wanted.name!r}, which is no service",
                code="unknown_service",
                remedy="See GET /api/v1/services",
            )
        return service

    # --- in the transaction -------------------------------------------------------------------------

    async def end_all(self, session: AsyncSession, answers: Sequence[Answer]) -> set[UUID]:
        """End the calls that answers end, all at once; returns the messages of those answers that did."""
        ending = [one for one in answers if one.verdict is not None and one.verdict.next is not Next.RETRY]
        if not ending:
            return set()
        done = await rows.end_all(session, [_ending(one) for one in ending])
        return {one.message.message_id for one, is_done in zip(ending, done, strict=True) if is_done}

    async def apply(
        self, session: AsyncSession, answer: Answer, opened: Opened, ended: Collection[UUID]
    ) -> list[Emission]:
        """`ended` is what `end_all` found."""
        if answer.tool is not None:
            return await self._ask_tool(session, answer, answer.tool, opened)
        assert answer.verdict is not None
        if answer.verdict.next is Next.RETRY:
            return await self._try_again(session, answer, answer.verdict, opened)
        if answer.message.message_id not in ended:
            return []
        return await self._go_on(session, answer, answer.verdict, opened)

    async def _go_on(
        self, session: AsyncSession, answer: Answer, verdict: Verdict, opened: Opened
    ) -> list[Emission]:
        """The call is over: the step, or the agent that asked for the tool, goes on."""
        call, ending = answer.call, _ending(answer)
        said = {"degradation": verdict.degradation} if verdict.degradation else {}
        failed, error = ending.became is CallState.FAILED, ending.error
        outcome = "failed" if failed else "degraded" if said else "completed"
        opened.notes.append(telling.of_step(call, outcome, **said, **({"error": error} if error else {})))
        if answer.parent is not None and call.tool_key is not None:
            found = {"error": error} if failed else ending.result
            await self._resume(session, answer, answer.parent, call.tool_key, found, opened)
            return []
        if call.is_one_way:  # the flow went on when it was sent
            return []
        return [(NEXT, _step_of(answer))]

    async def _ask_tool(
        self, session: AsyncSession, answer: Answer, tool: tuple[Question, Decision], opened: Opened
    ) -> list[Emission]:
        call, (question, decision) = answer.call, tool
        if not await rows.change(session, call, CallState.OPEN, state=CallState.WAITING.value):
            return []
        asked = {"tool": question.tool_key, "asked_of": question.service.name}
        opened.notes.append(telling.of_step(call, "waiting", **asked))
        await open_call(session, question, decision, opened)
        if decision.action is Action.ANSWER:  # the service is away: the agent goes on with what stands in
            assert question.tool_key is not None
            await self._resume(session, answer, call, question.tool_key, decision.answer, opened)
        return []

    async def _resume(
        self,
        session: AsyncSession,
        answer: Answer,
        parent: Call,
        key: str,
        found: Any,
        opened: Opened,
    ) -> None:
        """The agent's call goes on, by an envelope that has the tool's answer in it."""
        assert answer.task is not None
        before = Envelope.model_validate(parent.envelope)
        results = {**before.payload.get(envelopes.TOOL_RESULTS, {}), key: found}
        fencing = parent.fencing + 1
        now = utc_now()
        timeout_at = now + (parent.timeout_at - parent.opened_at)
        service = self._catalogue.find(parent.service)
        if service is None:
            raise CallRefusedError(f"there is no service {parent.service!r}", code="unknown_service")
        envelope = envelopes.make(
            answer.task,
            parent.id,
            fencing,
            service,
            before.type,
            priority=parent.priority,
            payload={**before.payload, envelopes.TOOL_RESULTS: results},
            timeout_at=timeout_at,
            attempt=parent.attempt,
            others=[parent, answer.call],
        )
        values: dict[str, Any] = {
            "state": CallState.OPEN.value,
            "fencing": fencing,
            "envelope": envelope.as_dict(),
            "opened_at": now,
            "timeout_at": timeout_at,
            "sent_at": None,
            "taken_by": None,
            "taken_until": None,
        }
        if await rows.change(session, parent, CallState.WAITING, **values):
            names = [column.name for column in rows.TABLE.columns]
            changed = Call(**{**{name: getattr(parent, name) for name in names}, **values})
            opened.notes.append(telling.of_step(changed, "resumed", tool=key))
            opened.outgoing.append(envelopes.outgoing(changed))

    async def _try_again(
        self, session: AsyncSession, answer: Answer, verdict: Verdict, opened: Opened
    ) -> list[Emission]:
        """The step's message is due again after the delay; its call then goes out under the next number."""
        call = answer.call
        error = as_error(answer.failure) if answer.failure else {}
        if not await rows.end(session, call, CallState.RETRYING, error=error):
            return []
        step = PipelineMessage.parse(call.message)
        attempt = step.attempt + (1 if verdict.counts_attempt else 0)
        again = step.model_copy(
            update={
                "message_id": uuid5(call.id, f"again:{call.fencing}"),
                "attempt": attempt,
                # A step begins anew by its own message; a tool is asked again by name of its call.
                **({"payload": {AGAIN: str(call.id)}} if call.parent_id else {}),
            }
        )
        row = [Outgoing.of(again, adopting.QUEUE)]
        await messages.send(session, row, state=MessageState.DELAYED, worker_id=None, on_conflict="nothing")
        await messages.delay(
            session,
            self._store,
            again.message_id,
            seconds=verdict.delay_seconds,
            attempt=attempt,
            error=error,
            worker_id=None,
        )
        session.info.setdefault("after_commit", []).append(self._wake_delayed)
        opened.notes.append(
            telling.of_step(call, "retrying", error=error, delay_s=round(verdict.delay_seconds, 3))
        )
        return []


def _ending(answer: Answer) -> rows.Ending:
    verdict = answer.verdict
    assert verdict is not None
    failed = verdict.next is Next.FAIL
    result = verdict.answer if verdict.next is Next.ANSWER else None
    if answer.envelope is not None and verdict.next is Next.DONE:
        result = answer.envelope.payload
    return rows.Ending(
        answer.call,
        CallState.FAILED if failed else CallState.COMPLETED,
        result,
        as_error(answer.failure) if answer.failure and failed else None,
        verdict.degradation,
    )


def _step_of(answer: Answer) -> PipelineMessage:
    """The step's own message goes on, as if the step had been done here."""
    step = answer.step or PipelineMessage.parse(answer.call.message)
    return answer.message.model_copy(update={"payload": step.payload})


def _refusal(call: Call, failure: Failure | None) -> CallRefusedError:
    error = as_error(failure or TIMED_OUT)
    return CallRefusedError(
        f"{call.service} failed: {error['message'] or error['code']}",
        code=str(error["code"]),
        remedy="Correct what it says and send the task again, or resume it from the failed step",
    )
