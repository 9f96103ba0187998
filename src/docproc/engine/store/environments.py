"""Environments: pointers to the version of a workflow that each of them runs."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.promotion_tables import Promotion


class Environment(StrEnum):
    """Where a process runs. In development workflows are what their files say."""

    DEVELOPMENT = "development"
    STAGING = "staging"
    PRODUCTION = "production"


# Beside the environments: the version that runs on a share of real requests, and whose answers nobody gets.
SHADOW = "shadow"


async def current(session: AsyncSession, environment: str, workflow: str) -> Promotion | None:
    """The last promotion of a workflow to an environment; None: none, so its file decides."""
    found = await history(session, environment, workflow, limit=1)
    return found[0] if found else None


async def history(
    session: AsyncSession, environment: str, workflow: str | None = None, limit: int = 50
) -> list[Promotion]:
    """Newest first."""
    query = select(Promotion).where(Promotion.environment == environment)
    if workflow is not None:
        query = query.where(Promotion.workflow_name == workflow)
    ordered = query.order_by(Promotion.created_at.desc(), Promotion.id.desc()).limit(limit)
    return list(await session.scalars(ordered))


async def point(
    session: AsyncSession,
    environment: str,
    workflow: str,
    version: str,
    *,
    by: str,
    kind: str = "promoted",
    reason: Any = None,
) -> Promotion:
    """From now on new requests of an environment take this version; those under way keep theirs."""
    before = await current(session, environment, workflow)
    added = Promotion(
        environment=environment,
        workflow_name=workflow,
        version=version,
        previous_version=before.version if before else None,
        kind=kind,
        made_by=by,
        reason=reason,
    )
    session.add(added)
    await session.flush()
    return added
