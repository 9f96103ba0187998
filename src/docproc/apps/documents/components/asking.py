"""Whether a person answers before a doubtful unit goes on, or afterwards: by who can answer in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.review.pace import USUAL_SECONDS
from docproc.engine.message import PipelineMessage
from docproc.engine.store import tasks
from docproc.engine.store.session import Store
from docproc.engine.store.tasks import Urgency
from docproc.engine.workflow.definition import Stage, WhenNoTime
from docproc.people.availability import Task, can_finish
from docproc.people.store import operators


class Ask(Enum):
    """What becomes of a unit."""

    NOBODY = auto()  # it is sure, or nobody may be asked: it goes on
    BEFORE = auto()  # it goes on when a person has answered
    AFTER = auto()  # it goes on flagged, and a person's answer amends


@dataclass(frozen=True, slots=True)
class Question:
    """A doubt about a message's unit, at a stage that may ask."""

    message: PipelineMessage
    stage: Stage

    @property
    def waits(self) -> bool:
        return self.stage.when_no_time is WhenNoTime.WAIT

    @property
    def urgency(self) -> Urgency:
        return Urgency.of(self.message)


async def before_handling(
    store: Store, task_type: str, questions: Sequence[Question | None], now: datetime
) -> list[Ask]:
    """One decision per message of a batch; None where nothing is doubtful. To be called before its
    transaction: it reads by itself, and only if that can matter."""
    if not _must_look(questions):
        return [Ask.BEFORE if question else Ask.NOBODY for question in questions]
    async with store.reading() as session:
        return await decide(session, task_type, questions, now)


async def decide(
    session: AsyncSession, task_type: str, questions: Sequence[Question | None], now: datetime
) -> list[Ask]:
    """The same for whoever is already in a transaction."""
    decisions = [Ask.BEFORE if question else Ask.NOBODY for question in questions]
    if not _must_look(questions):
        return decisions
    asked = [(place, question) for place, question in enumerate(questions) if question]
    asked.sort(key=lambda each: each[1].urgency.order)
    ahead = await tasks.open_ahead(session, task_type, [question.urgency for _, question in asked])
    people = await operators.active(session, {question.message.tenant_id for _, question in asked})
    usual = USUAL_SECONDS[task_type]
    before: Counter[str] = Counter()  # those of this batch that are more urgent become tasks, too
    for place, question in asked:
        tenant = question.message.tenant_id
        number = ahead.get((tenant, question.urgency), 0) + before[tenant]
        task = Task(task_type, frozenset({task_type}), question.message.deadline_utc, number, usual)
        if not question.waits and not can_finish(task, people[tenant], now):
            decisions[place] = Ask.AFTER
        before[tenant] += 1
    return decisions


def _must_look(questions: Iterable[Question | None]) -> bool:
    return any(question and not question.waits for question in questions)
