"""A person's change of a quiz becomes its next version, in one transaction."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials import links
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.stored import AssessmentDocument
from docproc.apps.materials.order import Order
from docproc.apps.materials.store import Kind, MaterialStore, NewDocument, Stored
from docproc.apps.materials.tables import Assessment
from docproc.errors import DocProcError


class UnknownMaterialError(DocProcError):
    """There is no quiz of this material."""


class ChangedMeanwhileError(DocProcError):
    """Somebody published another version since the person began."""


async def publish(
    session: AsyncSession,
    documents: MaterialStore,
    tenant_id: str,
    material_id: str,
    change: Callable[[Quiz], Quiz],
    *,
    edit_id: str,
    by: str,
    base_version: int | None = None,
) -> Stored:
    """Store what `change` makes of the quiz in use; the version before it is kept.

    The same `edit_id` again keeps its version, so a transaction that is repeated changes nothing more. Raises
    UnknownMaterialError, ChangedMeanwhileError (only with `base_version`), and what `change` raises.
    """
    # One editor at a time: of two who read the same quiz, the later would undo what the earlier did. A store
    # elsewhere is asked while this row is locked: that holds up other editors of this quiz and nobody else.
    row = select(Assessment.id).where(
        Assessment.tenant_id == tenant_id, Assessment.material_id == material_id
    )
    await session.execute(row.with_for_update())
    found = await documents.get(Kind.ASSESSMENT, tenant_id, material_id)
    if found is None:
        raise UnknownMaterialError(f"there is no quiz of {material_id!r}", remedy="Check the id")
    document = AssessmentDocument.model_validate(found)
    if base_version is not None and document.version != base_version:
        raise ChangedMeanwhileError(
            f"version {document.version} was published since version {base_version}",
            remedy="Look at the new version, and make your change there",
        )
    quiz = change(quiz_of(document))
    metadata = document.processing_metadata.model_copy(update={"request_id": edit_id, "edited_by": by})
    stored = await documents.put(session, NewDocument(tenant_id, material_id, quiz, metadata))
    order = Order(material_id=material_id)
    await links.say_assessment(session, tenant_id, order, stored, quiz.title, len(quiz.questions))
    return stored


def quiz_of(document: AssessmentDocument) -> Quiz:
    """Its content, without the keys of the store."""
    return Quiz.model_validate(document.model_dump(include=set(Quiz.model_fields)))
