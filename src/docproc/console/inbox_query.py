"""Which requests the inbox lists: what somebody looks for, the page of the list, and how many there are.

Lists are paged by keys, never by counting rows, so that a page of a million requests costs what the first one
does. A plain list walks requests from the newest on; a search, and what needs a look, walk the entries of the
index.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import and_, func, literal, or_, select
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import search
from docproc.engine.store.search import WORDS, Wanted
from docproc.engine.store.search_tables import SearchEntry
from docproc.engine.store.tables import Request, RequestStatus
from docproc.engine.store.task_tables import BackofficeTask

SHOWN = 50
# Counted no further: "1.000+" says as much.
CAP = 1000
# Of these the share without a person is told.
SAMPLE = 500

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class State(StrEnum):
    """The chips above the list."""

    ALL = "all"
    DOUBTS = "doubts"
    RUNNING = "running"
    FAILED = "failed"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class Asked:
    """A list of the inbox."""

    tenant_id: str
    wanted: Wanted = field(default_factory=Wanted)
    state: State = State.ALL
    since: datetime | None = None
    until: datetime | None = None
    # Where the page before ended.
    cursor: str = ""

    @property
    def walks_entries(self) -> bool:
        return self.state is State.DOUBTS or not self.wanted.is_everything


@dataclass(frozen=True, slots=True)
class Found:
    """A page of a list, and where the next one begins; "" is the end."""

    rows: list[Row[Any]]
    next: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How we are doing; each counted up to `CAP`."""

    today: int
    doubts: int
    running: int
    failed: int
    late: int
    # The share of today's latest that no person was asked about; None before the first is done.
    straight: float | None


_COLUMNS = (
    Request.id, Request.status, Request.workflow_name, Request.channel, Request.external_id,
    Request.created_at, Request.deadline_utc, Request.completed_at, Request.error, Request.uploads,
    SearchEntry.id.label("entry_id"), SearchEntry.title, SearchEntry.summary, SearchEntry.attention,
)  # fmt: skip


async def find(session: AsyncSession, asked: Asked, limit: int = SHOWN) -> Found:
    query = await _entries(session, asked) if asked.walks_entries else _requests(asked)
    rows = list(await session.execute(query.limit(limit + 1)))
    shown = rows[:limit]
    return Found(shown, _cursor(shown[-1], asked) if len(rows) > limit else "")


async def ids(session: AsyncSession, asked: Asked, limit: int) -> list[UUID]:
    """All that match, newest first, up to a limit."""
    query = await _entries(session, asked) if asked.walks_entries else _requests(asked)
    return list(await session.scalars(query.with_only_columns(Request.id).limit(limit)))


def _requests(asked: Asked) -> Any:
    query = select(*_COLUMNS).outerjoin(SearchEntry, SearchEntry.request_id == Request.id)
    query = query.where(Request.tenant_id == asked.tenant_id, *_conditions(asked))
    if asked.cursor:
        micros, _, request_id = asked.cursor.partition("_")
        moment = _EPOCH + timedelta(microseconds=int(micros))
        same = and_(Request.created_at == moment, Request.id < UUID(request_id))
        # The first condition alone bounds the walk through the index.
        query = query.where(Request.created_at <= moment, or_(Request.created_at < moment, same))
    return query.order_by(Request.created_at.desc(), Request.id.desc())


async def _entries(session: AsyncSession, asked: Asked) -> Any:
    dialect = session.get_bind().dialect.name
    usual = await search.is_usual(session, asked.wanted, asked.tenant_id)
    query = select(*_COLUMNS).select_from(SearchEntry).join(Request, Request.id == SearchEntry.request_id)
    query = search.matching(query, asked.wanted, asked.tenant_id, dialect, usual=usual)
    query = query.where(*_conditions(asked))
    # FTS5 walks its rows downwards only when they are sorted by its own number.
    by_words = dialect != "postgresql" and not asked.wanted.is_everything
    number: Any = WORDS.c.rowid if by_words else SearchEntry.id
    if asked.cursor:
        query = query.where(number < int(asked.cursor))
    return query.order_by(number.desc())


def _conditions(asked: Asked) -> list[Any]:
    found: list[Any] = [_OF_STATE[asked.state]] if asked.state in _OF_STATE else []
    if asked.since is not None:
        found.append(Request.created_at >= asked.since)
    if asked.until is not None:
        found.append(Request.created_at < asked.until)
    return found


_OF_STATE: dict[State, Any] = {
    State.DOUBTS: SearchEntry.attention > 0,
    State.RUNNING: Request.completed_at.is_(None),
    State.FAILED: Request.status == RequestStatus.FAILED,
    State.LATE: Request.status == RequestStatus.SLA_BREACHED,
}


def _cursor(row: Row[Any], asked: Asked) -> str:
    if asked.walks_entries:
        return str(row.entry_id)
    return f"{(row.created_at - _EPOCH) // timedelta(microseconds=1)}_{row.id}"


async def counts(session: AsyncSession, tenant_id: str, today: datetime) -> Counts:
    """`today` is when the reader's day began."""
    mine = Request.tenant_id == tenant_id
    entries = SearchEntry.tenant_id == tenant_id
    # One statement: a page asks few questions of a database that is busy.
    query = select(
        _upto(mine, Request.created_at >= today).label("today"),
        _upto(entries, SearchEntry.attention > 0).label("doubts"),
        *(_upto(mine, _OF_STATE[one]).label(one.value) for one in (State.RUNNING, State.FAILED, State.LATE)),
    )
    found = (await session.execute(query)).one()
    return Counts(**found._asdict(), straight=await _straight(session, tenant_id, today))


def _upto(*conditions: Any) -> Any:
    """How many there are, counted no further than one more than the cap."""
    some = select(literal(1).label("one")).where(*conditions).limit(CAP + 1).subquery()
    return select(func.count()).select_from(some).scalar_subquery()


async def _straight(session: AsyncSession, tenant_id: str, today: datetime) -> float | None:
    latest = (
        select(Request.id)
        .where(Request.tenant_id == tenant_id, Request.created_at >= today)
        .where(Request.status == RequestStatus.COMPLETED)
        .order_by(Request.created_at.desc())
        .limit(SAMPLE)
        .subquery()
    )
    is_asked = select(BackofficeTask.id).where(BackofficeTask.request_id == latest.c.id).exists()
    waits = (
        select(SearchEntry.id)
        .where(SearchEntry.request_id == latest.c.id, SearchEntry.attention > 0)
        .exists()
    )
    query = select(or_(is_asked, waits), func.count()).select_from(latest).group_by(or_(is_asked, waits))
    found = {bool(row[0]): int(row[1]) for row in await session.execute(query)}
    total = sum(found.values())
    return found.get(False, 0) / total if total else None


async def mine(session: AsyncSession, request_ids: list[UUID], tenant_id: str) -> list[UUID]:
    """Of these, those of a tenant, in the order given."""
    found = set[UUID]()
    for start in range(0, len(request_ids), 500):  # SQLite takes so many values at once
        some = request_ids[start : start + 500]
        query = select(Request.id).where(Request.id.in_(some), Request.tenant_id == tenant_id)
        found |= set(await session.scalars(query))
    return [one for one in request_ids if one in found]
