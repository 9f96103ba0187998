"""The second reader: some answers are checked by another person, blind; a supervisor settles the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from uuid import UUID, uuid5

import prometheus_client
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.review import extraction
from docproc.apps.documents.review.classification import SplitAnswer, TypeAnswer, asked
from docproc.apps.documents.review.extraction import FieldsAnswer
from docproc.apps.documents.understanding.memory.examples import same
from docproc.engine.message import PipelineMessage
from docproc.engine.store import tasks
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.workflow.definition import SecondReader

Answer = TypeAnswer | SplitAnswer | FieldsAnswer

READINGS = prometheus_client.Counter(
    "docproc_second_readings_total", "Answers that were read a second time, by field.", ["field", "outcome"]
)
TYPE = "doc_type"
# In the input of a supervisor's task: what the two readers said.
ANSWERS = "answers"
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


def to_read(wanted: SecondReader | None, task: BackofficeTask, answer: Answer) -> list[str] | None:
    """What the second person is asked about, empty for a type or a boundary; None: nothing."""
    if wanted is None or task.second_of is not None:
        return None
    sampled = is_sampled(task.id, wanted.share)
    if not isinstance(answer, FieldsAnswer):
        return [] if sampled else None
    doubtful = [str(name) for name in asked(task).get("review") or ()]
    decided = {*doubtful, *_changed(task, answer)}
    named = [name for name in wanted.fields if name in decided]
    if not sampled:
        return named or None
    return list(dict.fromkeys([*(doubtful or answer.values), *named]))


def _changed(task: BackofficeTask, answer: FieldsAnswer) -> Iterable[str]:
    found = asked(task).get("fields") or {}
    return [n for n, value in answer.values.items() if value != (found.get(n) or {}).get("value")]


async def ask(
    session: AsyncSession, wanted: SecondReader | None, task: BackofficeTask, answer: Answer, by: Operator
) -> UUID | None:
    """In the transaction that settles `task`: another person is asked the same, as the machine saw it."""
    fields = to_read(wanted, task, answer)
    if fields is None:
        return None
    seen = {**asked(task), **({"review": fields} if fields else {})}
    made = await _create(session, task, "second reading", seen)
    await _mark(session, made, second_of=task.id, passed_by=[str(by.id)], priority=PRIORITY)
    return made


async def still_to_read(session: AsyncSession, task_ids: Collection[UUID]) -> set[UUID]:
    """Of which of these tasks a second reading is open."""
    one = BackofficeTask
    query = select(one.second_of).where(one.second_of.in_(task_ids), one.status.in_(tasks.OPEN))
    return {found for found in await session.scalars(query) if found is not None}


# --- whether the two agree ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """By field; a type is the field `doc_type`, a boundary `begins:` with its page."""

    agreed: tuple[str, ...]
    disagreed: tuple[str, ...]

    def output(self) -> dict[str, Any]:
        return {"agreed": list(self.agreed), "disagreed": list(self.disagreed)}


def compare(first: BackofficeTask, task: BackofficeTask, answer: Answer) -> Comparison:
    """What was asked of both, and whatever else the second person said."""
    before, now = _meant(first, first.output_data or {}), _meant(task, answer.output())
    names = list(now)
    if isinstance(answer, FieldsAnswer):
        names = list(dict.fromkeys([*(asked(task).get("review") or ()), *answer.values]))
    kinds = {name: field.type for name, field in extraction.schema_of(first).items()}
    alike = {name: _is_same(before.get(name), now.get(name), kinds.get(name, "")) for name in names}
    return Comparison(
        tuple(name for name, agrees in alike.items() if agrees),
        tuple(name for name, agrees in alike.items() if not agrees),
    )


def _meant(task: BackofficeTask, output: Mapping[str, Any]) -> dict[str, Any]:
    """What an answer comes to: fields that were not spoken of stay as the machine found them."""
    if TYPE in output:
        return {TYPE: output[TYPE]}
    if "splits" in output:
        return {f"begins:{page}": begins for page, begins in output["splits"].items()}
    found = {name: one.get("value") for name, one in (asked(task).get("fields") or {}).items()}
    return {**found, **(output.get("extracted_data") or {})}


def _is_same(one: Any, other: Any, kind: str) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return same(one, other, kind)
    return bool((one or None) == (other or None)) if not isinstance(one, bool) else one == other


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

    def seen(self, task: BackofficeTask) -> dict[str, Any]:
        return {"operator": self.operator, "said": _meant(task, self.output)}


async def ask_supervisor(
    session: AsyncSession, first: BackofficeTask, second: Reading, found: Comparison
) -> UUID:
    """With both answers; neither reader is given it."""
    output = dict(first.output_data or {})
    reading = Reading(str(output.get("operator", "")), first.assigned_to or first.id, output)
    seen = {**asked(first), "review": list(found.disagreed)}
    seen[ANSWERS] = [reading.seen(first), second.seen(first)]
    made = await _create(session, first, "dispute", seen)
    passed = [str(reading.operator_id), str(second.operator_id)]
    await _mark(session, made, second_of=first.id, passed_by=passed, needs_role="supervisor")
    return made


def first_stands(task: BackofficeTask, answer: Answer) -> bool:
    """Whether a supervisor's answer is what has gone out already."""
    went_out = asked(task)[ANSWERS][0]["said"]
    now = _meant(task, answer.output())
    names = answer.values if isinstance(answer, FieldsAnswer) else now
    kinds = {name: field.type for name, field in extraction.schema_of(task).items()}
    return all(_is_same(went_out.get(name), now.get(name), kinds.get(name, "")) for name in names)


# --- rows -----------------------------------------------------------------------------------------------


async def _create(session: AsyncSession, task: BackofficeTask, why: str, seen: dict[str, Any]) -> UUID:
    """About the same unit as `task`; its answer, if any follows from it, is a late unit's."""
    message = PipelineMessage.parse(task.message or "")
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
