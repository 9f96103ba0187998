"""Documents in the engine's own database: written in the transaction that ends the message."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.store import Kind, MaterialStore, NewDocument, Stored
from docproc.apps.materials.tables import AssessmentRow, MaterialVersion, SummaryRow
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store

_ROWS: dict[Kind, type[SummaryRow] | type[AssessmentRow]] = {
    Kind.SUMMARY: SummaryRow,
    Kind.ASSESSMENT: AssessmentRow,
}


class DatabaseStore(MaterialStore):
    is_elsewhere = False

    def __init__(self, store: Store) -> None:
        self.store = store

    async def put(self, session: AsyncSession, new: NewDocument) -> Stored:
        now = utc_now()
        if stored := await self._first(session, new, now):
            return stored
        row = await self._locked(session, new)
        made_by = row.document["processing_metadata"]["request_id"]
        if made_by != new.metadata.request_id:
            await self._keep(session, new, row)
            row.version += 1
        row.request_id = _request_id(new)
        row.document = _as_json(new.document(row.version, row.created_at, now))
        row.updated_at = now
        await session.flush()
        return Stored(row.id, row.version)

    async def _first(self, session: AsyncSession, new: NewDocument, now: datetime) -> Stored | None:
        """None where the material has a document: of two that come at once, the unique index takes one."""
        document_id = uuid4().hex
        values: dict[str, Any] = {
            "id": document_id,
            "tenant_id": new.tenant_id,
            "material_id": new.material_id,
            "version": 1,
            "request_id": _request_id(new),
            "document": _as_json(new.document(1, now, now)),
            "created_at": now,
            "updated_at": now,
        }
        dialect = postgresql if self.store.dialect == "postgresql" else sqlite
        statement = dialect.insert(_ROWS[new.kind]).values(**values).on_conflict_do_nothing()
        done = await session.execute(statement.returning(_ROWS[new.kind].id))
        return Stored(document_id, 1) if done.first() else None

    async def _locked(self, session: AsyncSession, new: NewDocument) -> SummaryRow | AssessmentRow:
        table: Any = _ROWS[new.kind]
        query = select(table).where(table.tenant_id == new.tenant_id, table.material_id == new.material_id)
        found = await session.execute(query.with_for_update().execution_options(populate_existing=True))
        row: SummaryRow | AssessmentRow = found.scalar_one()
        return row

    async def _keep(self, session: AsyncSession, new: NewDocument, row: SummaryRow | AssessmentRow) -> None:
        session.add(
            MaterialVersion(
                tenant_id=new.tenant_id,
                material_id=new.material_id,
                kind=new.kind,
                version=row.version,
                document=row.document,
            )
        )
        await session.flush()

    async def get(
        self, kind: Kind, tenant_id: str, material_id: str, version: int | None = None
    ) -> dict[str, Any] | None:
        table = _ROWS[kind]
        query = select(table.document).where(table.tenant_id == tenant_id, table.material_id == material_id)
        kept = select(MaterialVersion.document).where(*_versions_of(kind, tenant_id, material_id))
        async with self.store.reading() as session:
            if version is None:
                found = await session.scalar(query)
            else:
                found = await session.scalar(query.where(table.version == version))
                found = found or await session.scalar(kept.where(MaterialVersion.version == version))
        return dict(found) if found is not None else None

    async def versions(self, kind: Kind, tenant_id: str, material_id: str) -> list[int]:
        table = _ROWS[kind]
        kept = select(MaterialVersion.version).where(*_versions_of(kind, tenant_id, material_id))
        query = select(table.version).where(table.tenant_id == tenant_id, table.material_id == material_id)
        async with self.store.reading() as session:
            return sorted({*await session.scalars(kept), *await session.scalars(query)})

    async def remove(self, session: AsyncSession, tenant_id: str, material_id: str) -> None:
        for table in (SummaryRow, AssessmentRow, MaterialVersion):
            await session.execute(
                delete(table).where(table.tenant_id == tenant_id, table.material_id == material_id)
            )


def _versions_of(kind: Kind, tenant_id: str, material_id: str) -> tuple[Any, ...]:
    return (
        MaterialVersion.tenant_id == tenant_id,
        MaterialVersion.material_id == material_id,
        MaterialVersion.kind == kind,
    )


def _as_json(document: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in document.items()
    }


def _request_id(new: NewDocument) -> UUID | None:
    """The request, so that erasing it finds its documents; None for the work of a person."""
    try:
        return UUID(new.metadata.request_id)
    except ValueError:
        return None
