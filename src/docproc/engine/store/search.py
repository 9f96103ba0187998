"""Search over requests: applications describe them, an index keeps what they said, and the inbox asks it.

A request's entry is made anew whenever its answer has another version than the entry tells of
(`requests.indexed_version`), so that nothing which writes answers has to know of the index. Writing an entry
twice, or an older one after a newer one, is harmless: what does not match is found stale again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Text, bindparam, cast, column, func, select, table, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import search_words
from docproc.engine.store.search_tables import SearchEntry
from docproc.engine.store.tables import Request

# Beside `search_entries` on SQLite; its name as a column is how FTS5 is asked.
WORDS = table("search_words", column("rowid"), column("search_words"))
# How many of the latest requests tell whether words are usual, and from which share on they are.
SAMPLE = 300
USUAL_SHARE = 0.03


@dataclass(frozen=True, slots=True)
class Entry:
    """What an application says of a request."""

    # What people call it: the name of its file.
    title: str = ""
    # What it is found by, beside its ids and the name of its channel.
    texts: Sequence[str] = ()
    # For the application's own columns of the inbox; kept as JSON, never looked into.
    summary: Mapping[str, Any] = field(default_factory=dict)
    # How many things in it somebody should look at.
    attention: int = 0
    # What it can be filtered by: `{"type": ["invoice", "id_card"]}`.
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)


# (session, ids) -> what an application knows of those requests; the others it leaves out. Reads only, may be
# called again for the same requests, and must not depend on when it is called.
Describe = Callable[[AsyncSession, Sequence[UUID]], Awaitable[Mapping[UUID, Entry]]]


@dataclass(frozen=True, slots=True)
class Stale:
    """A request whose entry does not tell of its latest answer."""

    id: UUID
    tenant_id: str
    answer_version: int
    created_at: datetime
    # What the engine itself knows of it.
    own: Entry


async def stale(session: AsyncSession, limit: int) -> list[Stale]:
    """The oldest first: entries get their ids in the order in which requests came."""
    query = (
        select(
            Request.id, Request.tenant_id, Request.answer_version, Request.created_at, Request.external_id,
            Request.channel, Request.workflow_name, Request.uploads,
        )
        .where(Request.indexed_version != Request.answer_version)
        .order_by(Request.created_at)
        .limit(limit)
    )  # fmt: skip
    return [
        Stale(row.id, row.tenant_id, row.answer_version, row.created_at, _own(row))
        for row in await session.execute(query)
    ]


def _own(row: Any) -> Entry:
    names = [str(upload["name"]) for upload in row.uploads or ()]
    texts = [str(row.id), row.external_id or "", row.channel, row.workflow_name, *names]
    return Entry(title=", ".join(names), texts=texts, facets={"channel": [row.channel]})


async def describe(
    session: AsyncSession, found: Sequence[Stale], describers: Sequence[Describe]
) -> dict[UUID, Entry]:
    """Each request's entry, from the engine's own knowledge and what applications add to it."""
    entries = {one.id: one.own for one in found}
    for ask in describers:
        for request_id, said in (await ask(session, list(entries))).items():
            entries[request_id] = _joined(entries[request_id], said)
    return entries


def _joined(first: Entry, second: Entry) -> Entry:
    return Entry(
        title=second.title or first.title,
        texts=[*first.texts, *second.texts],
        summary={**first.summary, **second.summary},
        attention=first.attention + second.attention,
        facets={**first.facets, **second.facets},
    )


async def put(session: AsyncSession, found: Sequence[Stale], entries: Mapping[UUID, Entry]) -> int:
    """Write entries; returns how many. A request that was erased meanwhile gets none."""
    # In the order in which everybody locks requests, and first of all: a row that is gone is seen here.
    kept = []
    for one in sorted(found, key=lambda stale: str(stale.id)):
        moved = await session.execute(
            update(Request)
            .where(Request.id == one.id)
            .values(indexed_version=one.answer_version, updated_at=Request.updated_at)
            .returning(Request.id)
            .execution_options(synchronize_session=False)
        )
        kept += [one] if moved.first() else []
    if kept:
        statement = _upsert(session.get_bind().dialect.name)
        for one in sorted(kept, key=lambda stale: stale.created_at):
            await session.execute(statement, _row(one, entries[one.id], session.get_bind().dialect.name))
    return len(kept)


def _row(one: Stale, entry: Entry, dialect: str) -> dict[str, Any]:
    words = [*search_words.words_of([entry.title, *entry.texts]), *search_words.facets(entry.facets)]
    return {
        "request_id": one.id,
        "tenant_id": one.tenant_id,
        "title": entry.title,
        "summary": dict(entry.summary),
        "attention": entry.attention,
        "said": words if dialect == "postgresql" else " ".join(words),
    }


def _upsert(dialect: str) -> Any:
    """One entry a request: what is there already gets the new content and keeps its id."""
    is_postgresql = dialect == "postgresql"
    insert: Any = postgresql.insert if is_postgresql else sqlite.insert
    said: Any = bindparam("said", type_=ARRAY(Text) if is_postgresql else Text)
    words = func.array_to_tsvector(said) if is_postgresql else said
    names = ("request_id", "tenant_id", "title", "summary", "attention")
    made = insert(SearchEntry).values(words=words, **{name: bindparam(name) for name in names})
    changed = {name: made.excluded[name] for name in ("title", "summary", "attention", "words")}
    return made.on_conflict_do_update(index_elements=["request_id"], set_=changed)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody looks for: words as typed, and exact facets."""

    typed: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_everything(self) -> bool:
        return not (search_words.terms_of(self.typed) or any(self.facets.values()))

    def query(self, dialect: str) -> str:
        exact = [search_words.facet(name, value) for name, value in self.facets.items() if value]
        terms = search_words.terms_of(self.typed)
        spell = search_words.for_postgresql if dialect == "postgresql" else search_words.for_sqlite
        return spell(terms, exact)


async def is_usual(session: AsyncSession, wanted: Wanted, tenant_id: str) -> bool:
    """Whether so many of the latest requests match that a walk down from the newest soon finds a page.

    Asked on PostgreSQL before a search, because its planner knows nothing of rare words and of beginnings:
    it would walk through everything to find the one invoice with a number.
    """
    if wanted.is_everything or session.get_bind().dialect.name != "postgresql":
        return True
    latest = (
        select(SearchEntry.words)
        .where(SearchEntry.tenant_id == tenant_id)
        .order_by(SearchEntry.id.desc())
        .limit(SAMPLE)
        .subquery()
    )
    matched = latest.c.words.op("@@")(cast(wanted.query("postgresql"), postgresql.TSQUERY))
    count = await session.scalar(select(func.count()).select_from(latest).where(matched))
    return (count or 0) >= SAMPLE * USUAL_SHARE


def matching(query: Any, wanted: Wanted, tenant_id: str, dialect: str, *, usual: bool) -> Any:
    """A select from `search_entries`, of those of a tenant that match; `usual` is what `is_usual` said."""
    query = query.where(SearchEntry.tenant_id == tenant_id)
    if wanted.is_everything:
        return query
    said = wanted.query(dialect)
    if dialect != "postgresql":
        # Joined, not looked up in a list: FTS5 then walks from the newest on and stops when there are enough.
        joined = query.join(WORDS, WORDS.c.rowid == SearchEntry.id)
        return joined.where(WORDS.c.search_words.op("MATCH")(said))
    matches = SearchEntry.words.op("@@")(cast(said, postgresql.TSQUERY))
    if usual:
        return query.where(matches)
    # Collected by the index before anything is sorted: few, and the planner must not think otherwise.
    found = select(SearchEntry.id).where(SearchEntry.tenant_id == tenant_id, matches)
    collected = found.cte("found").prefix_with("MATERIALIZED", dialect="postgresql")
    return query.join(collected, collected.c.id == SearchEntry.id)
