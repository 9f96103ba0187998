"""The caller: steps call services and go on with their answers; all that the component does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.calls import adopting, rows
from docproc.apps.orchestrator.calls.answering import AGAIN, Answer, Answering, Heard
from docproc.apps.orchestrator.calls.envelopes import INPUTS
from docproc.apps.orchestrator.calls.opening import CallRefusedError, Opened, Question, decide, open_call
from docproc.apps.orchestrator.plans.step import CALL, StepOptions, call_id, options_of
from docproc.apps.orchestrator.resilience.calls import Action, Decision
from docproc.apps.orchestrator.resilience.guard import Guard
from docproc.apps.orchestrator.services.catalogue import Catalogue
from docproc.apps.orchestrator.services.wire import Outgoing
from docproc.apps.orchestrator.tables import Call, CallState, Task
from docproc.apps.orchestrator.tenants import Factors
from docproc.engine.component import NEXT, Emission
from docproc.engine.message import SAGA, PipelineMessage
from docproc.engine.store import events
from docproc.engine.store import messages as messages_store
from docproc.engine.store.messages import REQUEST_FAILED
from docproc.engine.store.messages import Outgoing as Row
from docproc.engine.store.session import Store
from docproc.engine.store.tables import MessageState, RequestStatus
from docproc.engine.workflow.definition import Workflow


@dataclass(frozen=True, slots=True)
class _Asked:
    """A message that begins a step, with what the guard said of its call."""

    question: Question
    decision: Decision

    @property
    def goes_on(self) -> bool:
        """Whether the flow waits for nobody: a standard answer serves, or nobody answers at all. What is sent
        one way again was gone on from when it was sent first."""
        if self.question.parent is not None:
            return False
        if not self.question.service.answers:
            return self.question.earlier is None
        return self.decision.action is Action.ANSWER


class Caller:
    def __init__(
        self,
        store: Store,
        catalogue: Catalogue,
        guard: Guard,
        workflow_of: Callable[[PipelineMessage], Awaitable[Workflow]],
        after_commit: Callable[[Sequence[Outgoing]], None],
        wake_delayed: Callable[[], None],
    ) -> None:
        self._store = store
        self._catalogue = catalogue
        self._guard = guard
        self._workflow_of = workflow_of
        self._after_commit = after_commit
        self._factors = Factors(store)
        self._answering = Answering(store, catalogue, guard, wake_delayed)

    async def handle(
        self,
        messages: Sequence[PipelineMessage],
        session: AsyncSession,
        heard: Mapping[UUID, Heard] | None = None,
    ) -> list[list[Emission]]:
        """Begin steps, and go on with answers; what takes time comes before the session is touched.

        `heard`, by the messages' ids: answers that were read a moment ago.
        """
        if heard is not None:
            answers = [await self._answering.prepare_heard(one, heard[one.message_id]) for one in messages]
            return await self._apply(messages, answers, session)
        known = await self._read(messages)
        parked = [one for one in messages if known.is_failed(one)]
        prepared: list[_Asked | Answer | None] = [
            None if known.is_over(one) else await self._prepare(one, known) for one in messages
        ]
        emitted = await self._apply(messages, prepared, session)
        await _park(session, parked)
        return emitted

    async def _apply(
        self,
        messages: Sequence[PipelineMessage],
        prepared: Sequence[_Asked | Answer | None],
        session: AsyncSession,
    ) -> list[list[Emission]]:
        opened = Opened()
        ended = await self._answering.end_all(session, [one for one in prepared if isinstance(one, Answer)])
        emitted: list[list[Emission]] = []
        for message, one in zip(messages, prepared, strict=True):
            if isinstance(one, _Asked):
                await open_call(session, one.question, one.decision, opened)
                emitted.append([(NEXT, message)] if one.goes_on else [])
            elif isinstance(one, Answer):
                emitted.append(await self._answering.apply(session, one, opened, ended))
            else:
                emitted.append([])  # an answer to an envelope whose place another took
        await self._write(session, opened)
        return emitted

    async def _write(self, session: AsyncSession, opened: Opened) -> None:
        await session.connection()  # the messages are handled, though nothing may come of them
        if opened.inserted:
            await rows.insert(session, opened.inserted)
        await events.record(session, opened.notes)
        if opened.outgoing:
            sent = tuple(opened.outgoing)
            session.info.setdefault("after_commit", []).append(lambda: self._after_commit(sent))

    async def _read(self, messages: Sequence[PipelineMessage]) -> _Known:
        request_ids = {message.request_id for message in messages}
        async with self._store.reading() as session:
            tasks, statuses = await rows.tasks_of(session, request_ids)
            return _Known(tasks, await rows.of_requests(session, request_ids), statuses)

    async def _prepare(self, message: PipelineMessage, known: _Known) -> _Asked | Answer | None:
        call = known.call(message)
        # The first compensation of a saga comes with the payload of the answer that failed another step.
        is_answer = call is None or call.stage == message.current_stage
        if "call_id" in message.payload and message.replay_of is None and is_answer:
            return await self._answering.prepare(message, call, known.task(message))
        question: Question | None
        if (tool := known.call(message, AGAIN)) is not None:
            question = await self._answering.tool_again(message, tool, known.task(message))
        else:
            question = await self._question(message, known)
        if question is None:
            return None
        return _Asked(question, await decide(self._guard, question))

    async def _question(self, message: PipelineMessage, known: _Known) -> Question:
        task, calls = known.task(message), known.calls[message.request_id]
        workflow = await self._workflow_of(message)
        stage = workflow.stage(message.current_stage)
        options = options_of(stage)
        service = options.service_in(self._catalogue)
        if service is None:
            raise CallRefusedError(
                f"there is no service {options.service or options.type.name!r}",
                code="unknown_service",
                remedy="See GET /api/v1/services",
            )
        own_id = call_id(message.request_id, stage.name, message.generation)
        step = _step_message(message, known)
        return Question(
            id=own_id,
            task=task,
            service=service,
            type=options.type,
            payload=_payload(workflow, stage.name, options, task, calls),
            priority=task.priority if options.priority is None else options.priority,
            stage=stage.name,
            message=step,
            timeout_ms=options.timeout_ms or task.envelope.get("metadata", {}).get("timeout_ms"),
            earlier=next((call for call in calls if call.id == own_id), None),
            others=calls,
            tenant_factor=await self._factors.of(task.tenant_id),
        )


@dataclass(frozen=True, slots=True)
class _Known:
    tasks: Mapping[UUID, Task]
    calls: Mapping[UUID, Sequence[Call]]
    statuses: Mapping[UUID, str]

    def is_failed(self, message: PipelineMessage) -> bool:
        """The request failed while this was on its way: it waits for somebody to resume the task."""
        return self.statuses.get(message.request_id) == RequestStatus.FAILED

    def is_over(self, message: PipelineMessage) -> bool:
        """Nothing is begun or ended for it any more, but what undoes it."""
        status = self.statuses.get(message.request_id)
        is_undone = status == RequestStatus.COMPENSATING and SAGA not in message.payload
        return self.is_failed(message) or is_undone or status == rows.CANCELLED

    def task(self, message: PipelineMessage) -> Task:
        if message.request_id not in self.tasks:
            raise CallRefusedError(
                "the request is no task of the orchestrator",
                code="no_task",
                remedy="Submit it by POST /api/v1/tasks",
            )
        return self.tasks[message.request_id]

    def call(self, message: PipelineMessage, name: str = "call_id") -> Call | None:
        wanted = str(message.payload.get(name))
        return next((one for one in self.calls[message.request_id] if str(one.id) == wanted), None)


async def _park(session: AsyncSession, parked: Sequence[PipelineMessage]) -> None:
    held = [Row.of(one, adopting.QUEUE, REQUEST_FAILED) for one in parked]
    if held:
        await messages_store.send(
            session, held, state=MessageState.HELD, worker_id=None, on_conflict="nothing"
        )


def _step_message(message: PipelineMessage, known: _Known) -> PipelineMessage:
    """The step's own message; of one that is replayed, what failed is forgotten."""
    message = message.model_copy(update={"replay_of": None})  # its answers are no replays
    if "call_id" not in message.payload:
        return message
    call = known.call(message)
    payload = PipelineMessage.parse(call.message).payload if call else {}
    saga = {SAGA: message.payload[SAGA]} if SAGA in message.payload else {}
    return message.model_copy(update={"payload": {**payload, **saga}})


def _payload(
    workflow: Workflow, stage: str, options: StepOptions, task: Task, calls: Sequence[Call]
) -> dict[str, Any]:
    """What the flow says, then what the task says, and what the steps before found."""
    said: Mapping[str, Any] = task.envelope.get("payload", {})
    of_steps: Mapping[str, Any] = task.inputs or {}
    own = of_steps.get(stage, {}) if of_steps else said
    found = {
        call.stage: call.result
        for call in calls
        if call.parent_id is None and call.state == CallState.COMPLETED.value
    }
    before = _before(workflow, stage)
    inputs = {name: found[name] for name in before if name in found}
    shared = {"task": said} if of_steps and said else {}
    return {**options.payload, **shared, **own, **({INPUTS: inputs} if inputs else {})}


def _before(workflow: Workflow, stage: str) -> list[str]:
    """The steps that a step comes after."""
    above: list[str] = []
    for one in workflow.stages:
        if one.name == stage:
            return list(one.after) if one.after is not None else above
        above = [one.name] if one.component == CALL else above
    return []
