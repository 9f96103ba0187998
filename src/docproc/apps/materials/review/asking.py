"""Makes tasks of questions that did not pass a check; the quiz goes out, and the answer amends it."""

from __future__ import annotations

from uuid import NAMESPACE_URL, UUID, uuid5

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.content.editing import QuestionEdit
from docproc.apps.materials.content.quiz import Quiz
from docproc.engine.message import PipelineMessage
from docproc.engine.store import tasks

TASK_TYPE = "material_question"


async def ask(session: AsyncSession, message: PipelineMessage, material_id: str, quiz: Quiz) -> int:
    """One task for each marked question, in the transaction that stores the quiz; returns how many."""
    asked = [
        tasks.Asked(
            # A task is one for each message and type: each question gets a message of its own to be about.
            message.model_copy(update={"message_id": uuid5(message.message_id, question.id), "payload": {}}),
            TASK_TYPE,
            reference(message.tenant_id, material_id),
            {
                "material_id": material_id,
                "question_id": question.id,
                "needs_review": question.needs_review,
                "evidence": [evidence.model_dump() for evidence in question.evidence],
                **QuestionEdit.of(question).model_dump(mode="json"),
            },
            amends=True,
        )
        for question in quiz.questions
        if question.needs_review
    ]
    await tasks.create_all(session, asked)
    return len(asked)


async def withdraw(session: AsyncSession, tenant_id: str, material_id: str) -> None:
    """Another quiz takes the place of the one that people were asked about."""
    await tasks.withdraw_amendments(session, [reference(tenant_id, material_id)], "another quiz was stored")


def reference(tenant_id: str, material_id: str) -> UUID:
    return uuid5(NAMESPACE_URL, f"docproc:material:{tenant_id}:{material_id}")
