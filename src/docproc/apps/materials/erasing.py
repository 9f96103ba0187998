"""What is erased with a request: its documents in the engine's database and what its rows say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.stores.choosing import remove_elsewhere
from docproc.apps.materials.tables import (
    Assessment,
    AssessmentRow,
    MaterialAnswer,
    MaterialDelivery,
    MaterialEvent,
    MaterialFailure,
    MaterialNotice,
    MaterialSummaryLink,
    MaterialVersion,
    SummaryRow,
)
from docproc.engine.store import mentions


async def erase(session: AsyncSession, request_id: UUID) -> None:
    """In the transaction that erases the request. The material goes where this request made what is in
    use."""
    query = select(MaterialSummaryLink).where(MaterialSummaryLink.request_id == request_id)
    for link in list(await session.scalars(query)):
        await remove_elsewhere(session, link.tenant_id, link.material_id)
        for table in (SummaryRow, AssessmentRow, MaterialVersion, Assessment, MaterialSummaryLink):
            await session.execute(
                delete(table).where(table.tenant_id == link.tenant_id, table.material_id == link.material_id)
            )
    for owned in (MaterialAnswer, MaterialDelivery, MaterialEvent, MaterialFailure, MaterialNotice):
        await session.execute(delete(owned).where(owned.request_id == request_id))


async def texts(session: AsyncSession, tenant_id: str | None) -> AsyncIterator[tuple[UUID, str]]:
    """What was written, answered and said of materials."""
    for request_id, columns in (
        (SummaryRow.request_id, (SummaryRow.document,)),
        (AssessmentRow.request_id, (AssessmentRow.document,)),
        (MaterialAnswer.request_id, (MaterialAnswer.answer,)),
        (MaterialNotice.request_id, (MaterialNotice.address, MaterialNotice.content)),
    ):
        async for found in mentions.texts(session, tenant_id, request_id, columns):
            yield found
