"""The tail of all tasks' events: one look at the database for all clients of a process, nothing skipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    and_,
    bindparam,
    func,
    join,
    literal,
    literal_column,
    or_,
    select,
)
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.tables import Task
from docproc.engine.store import events
from docproc.engine.store.events import Position
from docproc.engine.store.session import Store

TABLE: Any = events.TABLE
BATCH = 1000
# Beyond every id: a position that has had all of its transaction.
_LAST = 2**62


@dataclass(frozen=True, slots=True)
class _Mark:
    """What was there at a moment: once every transaction of that moment is over, no lower id can appear."""

    highest_id: int
    xmax: int


class Tail:
    """Reads on from where it stopped, in the order of `events.read`.

    That order has no index over all requests. `floor` is the id below which nothing can appear any more, so a
    look reads only what is above it, by the index of events that are not about handled messages.
    """

    def __init__(self, store: Store, kind: str | None = None) -> None:
        """`kind`: the only one that is read."""
        self._is_sqlite = store.is_sqlite
        self._news = _news(kind, is_sqlite=store.is_sqlite)
        self.position: Position | None = None
        self._floor = 0
        self._mark: _Mark | None = None

    async def begin(self, session: AsyncSession) -> Position:
        """From now on: what is settled already is for those who ask for it themselves."""
        xmin, xmax, highest = await self._now(session)
        self.position = Position(0, highest) if self._is_sqlite else Position(xmin - 1, _LAST)
        # Nothing above is settled before it is read; rows of transactions that run now may have lower ids.
        self._floor = highest if self._is_sqlite else await self._lowest_open(session, xmin)
        self._mark = _Mark(highest, xmax)
        return self.position

    async def read(self, session: AsyncSession) -> Sequence[Row[Any]]:
        """What is new, at most a batch. One statement, because it is asked often."""
        assert self.position is not None
        place = {"transaction": self.position.transaction_id, "last": self.position.id}
        rows = list(await session.execute(self._news, {"floor": self._floor, **place}))
        xmin, xmax, highest = rows[0].xmin, rows[0].xmax, rows[0].highest
        found = [row for row in rows if row.id is not None]
        if found:
            self.position = place_of(found[-1])
        elif not self._is_sqlite:
            self.position = max(self.position, Position(xmin - 1, _LAST), key=_order)
        self._raise_floor(xmin, xmax, highest, is_all=len(found) < BATCH)
        return found

    def _raise_floor(self, xmin: int, xmax: int, highest: int, *, is_all: bool) -> None:
        if self._is_sqlite:
            assert self.position is not None
            self._floor = self.position.id
        elif self._mark is None or (is_all and xmin >= self._mark.xmax):
            if self._mark is not None:
                self._floor = max(self._floor, self._mark.highest_id)
            self._mark = _Mark(highest, xmax)

    async def _now(self, session: AsyncSession) -> tuple[int, int, int]:
        """The oldest running transaction, the next one, and the highest id that can be seen."""
        row = (await session.execute(select(_moment(is_sqlite=self._is_sqlite)))).one()
        return int(row.xmin), int(row.xmax), int(row.highest)

    async def _lowest_open(self, session: AsyncSession, xmin: int) -> int:
        """The last id, seen from above, that belongs to a transaction older than every running one."""
        query = select(TABLE.c.id).where(TABLE.c.kind != "handled", TABLE.c.transaction_id < xmin)
        found = await session.scalar(query.order_by(TABLE.c.id.desc()).limit(1))
        # A running transaction may have drawn ids before that one did: leave room for them.
        return max(0, int(found or 0) - 10_000)


def place_of(row: Row[Any]) -> Position:
    return Position(row.transaction_id, row.id)


def is_later(one: Position, other: Position) -> bool:
    return _order(one) > _order(other)


def _order(position: Position) -> tuple[int, int]:
    return position.transaction_id, position.id


async def missed(
    session: AsyncSession, tenant_id: str, session_id: str, after: Position, limit: int = BATCH
) -> Sequence[Row[Any]]:
    """Events of a client's session after a position, settled ones only."""
    query = _joined().where(
        Task.tenant_id == tenant_id,
        Task.session_id == session_id,
        TABLE.c.kind != "handled",
        _after(after),
    )
    if session.get_bind().dialect.name == "postgresql":
        settled: ColumnElement[int] = literal_column("pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
        query = query.where(TABLE.c.transaction_id < settled)
    return list(await session.execute(query.order_by(TABLE.c.transaction_id, TABLE.c.id).limit(limit)))


def _moment(*, is_sqlite: bool) -> Any:
    """What a statement sees: the oldest running transaction, the next one, and the highest id."""
    highest = select(func.coalesce(func.max(TABLE.c.id), 0)).scalar_subquery()
    snapshot = "pg_snapshot_{}(pg_current_snapshot())::text::bigint"
    limits: list[ColumnElement[int]] = [
        literal(0) if is_sqlite else literal_column(snapshot.format(name)) for name in ("xmin", "xmax")
    ]
    columns = (limits[0].label("xmin"), limits[1].label("xmax"), highest.label("highest"))
    return select(*columns).subquery("moment")


@lru_cache(maxsize=8)
def _news(kind: str | None, *, is_sqlite: bool) -> Any:
    """The moment, and beside it every event after a position; one row without one where there is none."""
    moment = _moment(is_sqlite=is_sqlite)
    is_new = [
        # Spelled out, so that the index of such events is used whatever the plan.
        TABLE.c.kind != literal_column("'handled'"),
        TABLE.c.id > bindparam("floor", type_=BigInteger),
        or_(
            TABLE.c.transaction_id > bindparam("transaction", type_=BigInteger),
            and_(
                TABLE.c.transaction_id == bindparam("transaction", type_=BigInteger),
                TABLE.c.id > bindparam("last", type_=BigInteger),
            ),
        ),
    ]
    if not is_sqlite:
        is_new.append(TABLE.c.transaction_id < moment.c.xmin)
    if kind is not None:
        is_new.append(TABLE.c.kind == kind)
    told = join(TABLE, Task, Task.request_id == TABLE.c.request_id)
    query = select(moment, TABLE, Task.session_id, Task.correlation_id)
    query = query.select_from(moment.outerjoin(told, and_(*is_new)))
    return query.order_by(TABLE.c.transaction_id, TABLE.c.id).limit(BATCH)


def _joined() -> Any:
    return select(TABLE, Task.session_id, Task.correlation_id).join(
        Task, Task.request_id == TABLE.c.request_id
    )


def _after(position: Position) -> Any:
    return or_(
        TABLE.c.transaction_id > position.transaction_id,
        and_(TABLE.c.transaction_id == position.transaction_id, TABLE.c.id > position.id),
    )
