"""The second reader: some answers are checked by another person, blind; a supervisor settles the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from uuid import UUID, uuid5

import prometheus_client
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import tasks
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.workflow.definition import SecondReader
from docproc.people.kinds import EARLIER, Answer, TaskKind, asked, message_of

READINGS = prometheus_client.Counter(
    "docproc_second_readings_total", "Answers that were read a second time, by field.", ["field", "outcome"]
)
# In the input of a supervisor's task: what the two readers said.
ANSWERS = "answers"
# In the input of any task: the fields a person is asked about.
REVIEW = "review"
# Nobody waits for a second reading: it comes after everything that somebody waits for.
PRIORITY = 0


def is_second(task: BackofficeTask) -> bool:
    """A blind reading of what somebody else has answered."""
    return task.second_of is not None and not is_dispute(task)


def is_dispute(task: BackofficeTask) -> bool:
    """Two readers disagree, and a supervisor is asked."""
    return ANSWERS in asked(task)


# --- which answers are read again -----------------------------------------------------------------------


def is_sampled(task_id: UUID, share: float) -> bool:
    """By the id alone: whoever answers, and however often this is computed."""
    digest = blake2b(task_id.bytes, digest_size=8, person=b"second reader").digest()
    return int.from_bytes(digest, "big") < share * 2**64


def to_read(
    kind: TaskKind[Any], wanted: SecondReader | None, task: BackofficeTask, answer: Answer
) -> list[str] | None:
    """What the second person is asked about, empty for the question as it is; None: nothing."""
    if wanted is None or task.second_of is not None:
        return None
    sampled = is_sampled(task.id, wanted.share)
    return kind.read_again(task, answer, wanted.fields, is_sampled=sampled)


async def ask(session: AsyncSession, task: BackofficeTask, fields: list[str] | None, by: Operator) -> None:
    """In the transaction that settles `task`: another person is asked the same, as the machine saw it.

    `fields` as `to_read` has them.
    """
    if fields is None:
        return
    # Blind: also what the first reader had said before taking it back is not theirs to see.
    blind = {name: value for name, value in asked(task).items() if name != EARLIER}
    seen = {**blind, **({REVIEW: fields} if fields else {})}
    made = await _create(session, task, "second reading", seen)
    await _mark(session, made, second_of=task.id, passed_by=[str(by.id)], priority=PRIORITY)


async def still_to_read(session: AsyncSession, task_ids: Collection[UUID]) -> set[UUID]:
    """Of which of these tasks a second reading is open."""
    one = BackofficeTask
    query = select(one.second_of).where(one.second_of.in_(task_ids), one.status.in_(tasks.OPEN))
    return {found for found in await session.scalars(query) if found is not None}


# --- whether the two agree ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """By field; one that is there several times has its place after a colon."""

    agreed: tuple[str, ...]
    disagreed: tuple[str, ...]

    def output(self) -> dict[str, Any]:
        return {"agreed": list(self.agreed), "disagreed": list(self.disagreed)}


def compare(kind: TaskKind[Any], first: BackofficeTask, task: BackofficeTask, answer: Answer) -> Comparison:
    """What was asked of both, and whatever else the second person said."""
    before, now = kind.meant(first, first.output_data or {}), kind.meant(task, answer.output())
    names = dict.fromkeys([*(asked(task).get(REVIEW) or ()), *kind.spoken_of(task, answer)])
    alike = {name: kind.is_same(first, name, before.get(name), now.get(name)) for name in names}
    return Comparison(
        tuple(name for name, agrees in alike.items() if agrees),
        tuple(name for name, agrees in alike.items() if not agrees),
    )


def count(session: AsyncSession, found: Comparison) -> None:
    """When it is committed."""

    def note() -> None:
        for outcome, names in (("agreed", found.agreed), ("disagreed", found.disagreed)):
            for name in names:
                READINGS.labels(name.partition(":")[0], outcome).inc()

    session.info.setdefault("after_commit", []).append(note)


# --- a supervisor decides -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reading:
    """One of the two: who said what."""

    operator: str
    operator_id: UUID
    output: Mapping[str, Any]

    def seen(self, kind: TaskKind[Any], task: BackofficeTask) -> dict[str, Any]:
        return {"operator": self.operator, "said": kind.meant(task, self.output)}


async def ask_supervisor(
    session: AsyncSession, kind: TaskKind[Any], first: BackofficeTask, second: Reading, found: Comparison
) -> None:
    """With both answers; neither reader is given it."""
    output = dict(first.output_data or {})
    reading = Reading(str(output.get("operator", "")), first.assigned_to or first.id, output)
    seen = {**asked(first), REVIEW: list(found.disagreed)}
    seen[ANSWERS] = [reading.seen(kind, first), second.seen(kind, first)]
    made = await _create(session, first, "dispute", seen)
    passed = [str(reading.operator_id), str(second.operator_id)]
    await _mark(session, made, second_of=first.id, passed_by=passed, needs_role="supervisor")


def first_stands(kind: TaskKind[Any], task: BackofficeTask, answer: Answer) -> bool:
    """Whether a supervisor's answer is what has gone out already."""
    went_out = asked(task)[ANSWERS][0]["said"]
    now = kind.meant(task, answer.output())
    names = kind.spoken_of(task, answer)
    return all(kind.is_same(task, name, went_out.get(name), now.get(name)) for name in names)


# --- rows -----------------------------------------------------------------------------------------------


async def _create(session: AsyncSession, task: BackofficeTask, why: str, seen: dict[str, Any]) -> UUID:
    """About the same unit as `task`; its answer, if any follows from it, is a late unit's."""
    message = message_of(task)
    return await tasks.create(
        session,
        message.model_copy(update={"message_id": uuid5(task.id, why)}),
        task_type=task.task_type,
        reference_id=task.reference_id or task.id,
        input_data=seen,
        amends=True,
    )


async def _mark(session: AsyncSession, task_id: UUID, **values: Any) -> None:
    await session.execute(
        update(BackofficeTask)
        .where(BackofficeTask.id == task_id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
