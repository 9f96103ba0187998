"""Orphans: files of submissions that came to nothing, such as a gateway killed in the middle of one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import structlog
from sqlalchemy import select

from docproc.engine.blobs import BlobStore
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request

log = structlog.get_logger(__name__)

# An upload may take long, and its request comes last.
OLD_ENOUGH = timedelta(hours=1)
# The same of files in the making, which a worker may need for long.
SCRATCH_OLD_ENOUGH = timedelta(days=1)
_GROUP = 500


async def sweep_orphans(store: Store, blobs: BlobStore, older_than: timedelta = OLD_ENOUGH) -> list[str]:
    """Remove the files of owners that are no request; returns those owners. What is no id is left alone."""
    removed: list[str] = []
    group: list[UUID] = []
    async for owner in blobs.owners(before=utc_now() - older_than):
        if (request_id := _id(owner)) is not None:
            group.append(request_id)
        if len(group) == _GROUP:
            removed += await _remove(store, blobs, group)
            group = []
    removed += await _remove(store, blobs, group)
    if removed:
        log.info("orphans_swept", owners=len(removed))
    return removed


async def sweep_scratch(blobs: BlobStore, older_than: timedelta = SCRATCH_OLD_ENOUGH) -> int:
    """Remove what processes that were killed left half made; says how many folders."""
    swept = await blobs.sweep_scratch(before=utc_now() - older_than)
    if swept:
        log.info("scratch_swept", folders=swept)
    return swept


async def _remove(store: Store, blobs: BlobStore, owners: Sequence[UUID]) -> list[str]:
    if not owners:
        return []
    async with store.reading() as session:
        known = set(await session.scalars(select(Request.id).where(Request.id.in_(owners))))
    orphans = [str(owner) for owner in owners if owner not in known]
    for owner in orphans:
        await blobs.delete(owner)
    return orphans


def _id(owner: str) -> UUID | None:
    """Only what we could have made ourselves: the folder may be shared."""
    try:
        found = UUID(owner)
    except ValueError:
        return None
    return found if str(found) == owner else None
