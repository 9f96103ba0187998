"""Queries of the inbox that people keep by name: each has their own; where nobody signs in all share them."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.search_tables import SavedView
from docproc.http.access.caller import Caller, TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.problems import Problem

router = APIRouter(prefix="/inbox/views", include_in_schema=False)

MOST = 50
# Where in a list somebody is, and how it is shown, is no part of what it is.
_NOT_KEPT = ("cursor", "lang", "theme")


class Kept(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=64, pattern=PLAIN_TEXT)
    query: str = Field(max_length=1000, pattern=PLAIN_TEXT)


async def of(session: AsyncSession, caller: Caller) -> list[SavedView]:
    query = select(SavedView).where(*_own(caller)).order_by(SavedView.name)
    return list(await session.scalars(query))


@router.post("", status_code=204)
@needs(Scope.READ)
async def keep(application: Application, caller: TheCaller, said: Annotated[Kept, Body()]) -> None:
    """Under a name that is taken, the new query."""
    pairs = [(name, value) for name, value in parse_qsl(said.query.lstrip("?")) if name not in _NOT_KEPT]
    kept = SavedView(
        tenant_id=caller.tenant_id, owner=caller.name[:64], name=said.name.strip(), query=urlencode(pairs)
    )
    try:
        async with application.store.writing() as session:
            await session.execute(delete(SavedView).where(*_own(caller), SavedView.name == kept.name))
            count = await session.scalar(select(func.count()).select_from(SavedView).where(*_own(caller)))
            if (count or 0) >= MOST:
                raise Problem(409, "too_many_views", f"there are {MOST} views already", "Remove one first")
            session.add(kept)
    except IntegrityError as error:  # somebody else kept one of that name in the same moment
        raise Problem(409, "view_exists", "a view of that name was kept just now", "Try again") from error


@router.delete("/{view_id}", status_code=204)
@needs(Scope.READ)
async def forget(application: Application, caller: TheCaller, view_id: UUID) -> None:
    async with application.store.writing() as session:
        chosen = delete(SavedView).where(*_own(caller), SavedView.id == view_id).returning(SavedView.id)
        if (await session.execute(chosen)).first() is None:
            raise Problem(404, "unknown_view", "you have no such view", "Load the page again")


def _own(caller: Caller) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return SavedView.tenant_id == caller.tenant_id, SavedView.owner == caller.name[:64]
