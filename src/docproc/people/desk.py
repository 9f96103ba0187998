"""The desk: people take tasks, answer them or hand them on. Each action is one short transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import events, rows, tasks
from docproc.engine.store.session import is_passing
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.transport import Copy
from docproc.engine.workflow.definition import SecondReader
from docproc.errors import NotAllowedError, TaskConflictError, UnknownTaskError
from docproc.people import undoing
from docproc.people.kinds import Again, Answer, Sitting, TaskKind, TaskKinds, message_of
from docproc.people.looking import Looks
from docproc.people.store import claims, operators
from docproc.people.supervision import second_reader

LONGEST_REASON = 500

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Deed:
    """Something a person did with a task, for the audit."""

    outcome: str
    operator: str
    data: Mapping[str, Any]


class Desk:
    """One per process; the pages and the API are thin around it."""

    def __init__(self, application: App) -> None:
        self.application = application
        self.store = application.store
        self.kinds = TaskKinds.of(application)
        self._looks = Looks()
        # Called when a person is free or a task has come back.
        self.wake: Callable[[], None] = lambda: None

    # --- people ---------------------------------------------------------------------------------------

    async def operator(self, name: str, *, create: bool) -> Operator:
        """The person of that name; `create` makes one with every skill at first use."""
        async with self.store.reading() as session:
            found = await session.scalar(select(Operator).where(Operator.username == name))
        if found is None and create:
            await self._create(name)
            return await self.operator(name, create=False)
        if found is None or not found.is_active:
            raise NotAllowedError(f"there is no operator {name!r}", remedy="Ask a supervisor for an account")
        return found

    async def looker(self, name: str) -> Operator:
        """The same for one who only looks: a new name is shown what it would have, and is stored nowhere."""
        async with self.store.reading() as session:
            known = await session.scalar(select(Operator.id).where(Operator.username == name))
        if known is not None:
            return await self.operator(name, create=False)
        return Operator(id=uuid4(), role="operator", tenant_id="default", shifts=None, **self._new(name))

    def _new(self, name: str) -> dict[str, Any]:
        return {"username": name, "skills": list(self.kinds.skills), "is_active": True}

    async def _create(self, name: str) -> None:
        row = self._new(name)
        async with self.store.writing() as session:
            await rows.insert(session, Operator.__table__, [row], on_conflict="nothing")  # type: ignore[arg-type] # is a Table

    async def heartbeat(self, operator: Operator, task_id: UUID | None = None) -> bool:
        """The person is there, and at this task; False when the task is no longer theirs."""
        now = utc_now()

        async def beat(session: AsyncSession) -> bool:
            # The task first, as everywhere: two who lock both in different orders would block each other.
            holds = task_id is None or await claims.sign_of_life(session, task_id, operator.id, now)
            await operators.seen(session, operator.username, now)
            return holds

        return await self._write(beat)

    # --- taking -----------------------------------------------------------------------------------------

    async def find(self, task_id: UUID) -> BackofficeTask:
        async with self.store.reading() as session:
            return await _found(session, task_id)

    async def claim(self, task_id: UUID, operator: Operator) -> BackofficeTask:
        """Exclusive: of many at once one has it, the others raise TaskConflictError."""
        task = await self.find(task_id)
        check_may_do(task, operator)
        self.kinds.check(task.task_type)

        async def take(session: AsyncSession) -> bool:
            now = utc_now()
            if not await claims.claim(session, task_id, operator, now):
                return False
            await operators.seen(session, operator.username, now)
            await _note(session, task, Deed("claimed", operator.username, {}))
            return True

        if not await self._write(take):
            raise _conflict(await self.find(task_id))
        return await self.find(task_id)

    async def next(self, operator: Operator, skip: tuple[UUID, ...] = ()) -> BackofficeTask | None:
        """The most urgent task this person may do, claimed; None when there is none."""

        async def take(session: AsyncSession) -> BackofficeTask | None:
            passed = list(skip)
            while (task_id := await claims.claim_next(session, operator, utc_now(), passed)) is not None:
                task = await _found(session, task_id)
                if task.task_type in self.kinds:
                    await _note(session, task, Deed("claimed", operator.username, {}))
                    return task
                # Of an application that this process does not load: nobody could answer it here.
                await claims.let_go(session, task_id, operator.id)
                passed.append(task_id)
            return None

        return await self._write(take)

    async def view(self, task_id: UUID, operator: Operator) -> BackofficeTask:
        """For a page that shows it: who saw a document is on record."""
        task = await self.find(task_id)

        async def note(session: AsyncSession) -> None:
            await _note(session, task, Deed("viewed", operator.username, {}))

        await self._write(note)
        return task

    async def look_through(self, tasks: Sequence[BackofficeTask], operator: Operator) -> None:
        """The same for a list with what is in its tasks; who asks every few seconds is noted now and then."""
        fresh = self._looks.fresh(operator.username, [task.id for task in tasks])
        notes = [_told(task, Deed("viewed", operator.username, {})) for task in tasks if task.id in fresh]
        if not notes:
            return

        async def note(session: AsyncSession) -> None:
            await events.record(session, notes)

        await self._write(note)
        self._looks.note(operator.username, fresh)

    # --- handing on -------------------------------------------------------------------------------------

    async def release(self, task_id: UUID, operator: Operator) -> None:
        await self._hand_on(task_id, operator, "released", {})

    async def skip(self, task_id: UUID, operator: Operator, reason: str) -> None:
        """Not for me: the person does not get it again, others do."""
        task = await self.find(task_id)
        passed = [*(task.passed_by or ()), str(operator.id)]
        await self._hand_on(task_id, operator, "skipped", {"passed_by": passed}, reason)

    async def escalate(self, task_id: UUID, operator: Operator, reason: str) -> None:
        """For a supervisor to decide."""
        await self._hand_on(task_id, operator, "escalated", {"needs_role": "supervisor"}, reason)

    async def _hand_on(
        self, task_id: UUID, operator: Operator, outcome: str, values: dict[str, Any], reason: str = ""
    ) -> None:
        task = await self.find(task_id)
        _check_holder(task, operator)

        async def give(session: AsyncSession) -> bool:
            if not await claims.let_go(session, task_id, operator.id):
                return False
            if values:
                await session.execute(
                    update(BackofficeTask)
                    .where(BackofficeTask.id == task_id)
                    .values(**values)
                    .execution_options(synchronize_session=False)
                )
            told = {"reason": reason[:LONGEST_REASON]} if reason else {}
            await _note(session, task, Deed(outcome, operator.username, told))
            return True

        if not await self._write(give):
            raise _conflict(await self.find(task_id))
        self.wake()

    # --- answering --------------------------------------------------------------------------------------

    async def submit(self, task_id: UUID, operator: Operator, said: Mapping[str, Any]) -> None:
        """Once, by the holder; raises TaskConflictError, NotAllowedError or InvalidAnswerError."""
        task = await self.find(task_id)
        _check_holder(task, operator)
        kind, sitting = self.kinds[task.task_type], await self.sitting(task, operator)
        answer: Answer = kind.read(said, sitting)
        if second_reader.is_second(task):
            return await self._compare(task, operator, answer)
        prepared = await kind.prepare(sitting, answer)
        again = second_reader.to_read(kind, _second_reader(sitting), task, answer)

        async def apply(session: AsyncSession) -> PipelineMessage | Again | None:
            await kind.keep(session, task, prepared)
            message: PipelineMessage | Again | None = None
            if not _changes_nothing(kind, task, answer):
                message = await kind.apply(session, task, answer)
            await second_reader.ask(session, task, again, operator)
            return message

        told = {"changes": kind.changes(task, answer)}
        await self._settle(task, operator, answer.output(), apply, told)

    async def sitting(self, task: BackofficeTask, operator: Operator, language: str = "") -> Sitting:
        """Of a person at a task, in the language of a page, or else as their account says."""
        flow = await self.application.versions.workflow(message_of(task))
        return Sitting(self.application, task, operator, language or operator.language or "en", flow)

    async def _compare(self, task: BackofficeTask, operator: Operator, answer: Answer) -> None:
        """A second reading changes nothing by itself: it agrees with the first, or a supervisor is asked."""
        kind = self.kinds[task.task_type]
        first = await self.find(task.second_of or task.id)
        found = second_reader.compare(kind, first, task, answer)
        reading = second_reader.Reading(operator.username, operator.id, answer.output())

        async def note(session: AsyncSession) -> None:
            second_reader.count(session, found)
            if found.disagreed:
                await second_reader.ask_supervisor(session, kind, first, reading, found)

        told = {"changes": kind.changes(task, answer), **found.output()}
        await self._settle(task, operator, {**answer.output(), **found.output()}, note, told)

    async def undo(self, task_id: UUID, operator: Operator) -> BackofficeTask:
        """Take back one's own answer: the question is open again, in the same hands (undoing.py)."""
        task = await self.find(task_id)
        kind = self.kinds[task.task_type]

        async def reopen(session: AsyncSession) -> None:
            now = utc_now()
            await undoing.take_back(session, kind, task, operator, now)
            await operators.seen(session, operator.username, now)
            await _note(session, task, Deed("undone", operator.username, {}))

        await self._write(reopen)
        return await self.find(task_id)

    async def cannot_read(self, task_id: UUID, operator: Operator, reason: str) -> None:
        """Nobody can answer it: the unit goes on as the machine left it, still marked."""
        task = await self.find(task_id)
        _check_holder(task, operator)
        kind = self.kinds[task.task_type]
        output = {"cannot_read": reason[:LONGEST_REASON]}

        async def give_up(session: AsyncSession) -> PipelineMessage | None:
            # What somebody has said already stands.
            is_said = task.second_of is not None or undoing.earlier(task) is not None
            return None if is_said else await kind.give_up(session, task)

        await self._settle(task, operator, output, give_up, output)

    async def _settle(
        self,
        task: BackofficeTask,
        operator: Operator,
        output: Mapping[str, Any],
        apply: Callable[[AsyncSession], Awaitable[PipelineMessage | Again | None]],
        told: Mapping[str, Any],
    ) -> None:
        """The task ends, its effects stand and the unit goes on, all at once or not at all.

        `apply` gives what goes on, None where nothing does; `told` is for the audit.
        """
        now = utc_now()

        async def end(session: AsyncSession) -> list[Copy] | None:
            if not await _complete(session, task, operator, output, now):
                return None
            message = await apply(session)
            asked = message_of(task)
            await tasks.remove_notices(session, asked.request_id, asked.unit_key)
            await tasks.clear_current(session, operator.id, task.id)
            began = task.accepted_at or task.assigned_at or now
            await operators.record_handling(
                session, operator.id, task.task_type, (now - began).total_seconds()
            )
            await operators.seen(session, operator.username, now)
            await _note(session, task, Deed("completed", operator.username, told))
            return await self._send_on(session, message)

        copies = await self._write(end)
        if copies is None:
            raise _conflict(await self.find(task.id))
        self.wake()
        await self.application.relay.hand_over(copies)

    async def _send_on(self, session: AsyncSession, message: PipelineMessage | Again | None) -> list[Copy]:
        outbox = self.application.outbox
        if message is None:
            return []
        if isinstance(message, Again):
            return await outbox.repeat(session, message.message)
        return await outbox.resume(session, message)

    async def _write(self, job: Callable[[AsyncSession], Awaitable[Result]]) -> Result:
        """In one transaction; passing trouble (a deadlock with the monitor) is tried again."""
        for pause in (0.02, 0.1, 0.5, None):
            try:
                async with self.store.writing() as session:
                    return await job(session)
            except Exception as error:
                if pause is None or not is_passing(error):
                    raise
                await asyncio.sleep(pause)
        raise AssertionError  # the last round returns or raises


async def _found(session: AsyncSession, task_id: UUID) -> BackofficeTask:
    query = select(BackofficeTask).where(BackofficeTask.id == task_id)
    found = await session.scalar(query.execution_options(populate_existing=True))
    if found is None:
        raise UnknownTaskError(f"there is no task {task_id}", remedy="Go back to the list")
    return found


def _second_reader(sitting: Sitting) -> SecondReader | None:
    stage = sitting.task.source_stage
    return sitting.flow.stage(stage).second_reader if stage else None


def _changes_nothing(kind: TaskKind[Any], task: BackofficeTask, answer: Answer) -> bool:
    """Of two readers a supervisor agrees with the first, whose answer stands."""
    return second_reader.is_dispute(task) and second_reader.first_stands(kind, task, answer)


def check_may_do(task: BackofficeTask, operator: Operator) -> None:
    lacking = set(task.required_skills or ()) - set(operator.skills or ())
    if lacking:
        raise NotAllowedError(
            f"{operator.username} lacks the skill {', '.join(sorted(lacking))}",
            remedy="Take another task, or ask a supervisor",
        )
    if task.needs_role not in claims.roles_up_to(operator.role) or task.tenant_id != operator.tenant_id:
        raise NotAllowedError("this task is for a supervisor", remedy="Take another task")
    if second_reader.is_second(task) and str(operator.id) in (task.passed_by or ()):
        raise NotAllowedError("somebody else must read this", remedy="Take another task")


def _check_holder(task: BackofficeTask, operator: Operator) -> None:
    if task.status == "assigned" and task.assigned_to != operator.id:
        raise NotAllowedError(
            "this task is held by somebody else", remedy="Take another task; what you typed was not sent"
        )
    if task.status != "assigned":
        raise _conflict(task)


def _conflict(task: BackofficeTask) -> TaskConflictError:
    said = {
        "pending": "nobody has claimed this task",
        "assigned": "somebody else has this task",
        "completed": "this task is done",
    }
    remedy = "Claim it first" if task.status == "pending" else "Take another task"
    return TaskConflictError(said.get(task.status, f"this task is {task.status}"), remedy=remedy)


async def _complete(
    session: AsyncSession, task: BackofficeTask, operator: Operator, output: Mapping[str, Any], now: datetime
) -> bool:
    """One UPDATE decides: of two submissions, or one and a lost claim, one finds the row held."""
    done = await session.execute(
        update(BackofficeTask)
        .where(
            BackofficeTask.id == task.id,
            BackofficeTask.status == "assigned",
            BackofficeTask.assigned_to == operator.id,
        )
        .values(status="completed", completed_at=now, output_data={**output, "operator": operator.username})
        .returning(BackofficeTask.id)
        .execution_options(synchronize_session=False)
    )
    return done.first() is not None


async def _note(session: AsyncSession, task: BackofficeTask, deed: Deed) -> None:
    await events.record(session, [_told(task, deed)])


def _told(task: BackofficeTask, deed: Deed) -> events.Event:
    data = {"task_id": str(task.id), "operator": deed.operator, **deed.data}
    return events.Event(
        task.request_id,
        "task",
        tenant_id=task.tenant_id,
        stage=task.source_stage,
        outcome=deed.outcome,
        data=data,
    )
