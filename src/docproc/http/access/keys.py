"""API keys: made, found by their hash, put in each other's place, revoked.

A key is 256 random bits, so one round of SHA-256 is enough to keep it: there is no list of likely keys to
try, as there is of passwords, and a slow hash would only cost every call its time.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Table, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import events, rows
from docproc.engine.store.events import Event
from docproc.engine.store.task_tables import Operator
from docproc.errors import UsageError
from docproc.http.access.scopes import Scope
from docproc.http.access.tables import ApiKey

TABLE: Table = ApiKey.__table__  # type: ignore[assignment] # is a Table

PREFIX = "dp_"
_LOOK = re.compile(r"dp_[0-9a-f]{8}_[0-9a-f]{64}")
# How exact "last use" is.
TOUCH = timedelta(seconds=60)
LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key is to be; `operator` is as whom it answers tasks."""

    name: str
    tenant_id: str
    scopes: Sequence[Scope]
    operator: Operator | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A key that was just made; `secret` is told once and kept nowhere."""

    id: UUID
    prefix: str
    secret: str


def looks_like_key(text: str) -> bool:
    return text.startswith(PREFIX)


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


async def create(session: AsyncSession, wanted: NewKey, by: str, *, replaces: UUID | None = None) -> Made:
    """Raises UsageError when it could not be used."""
    _check(wanted)
    prefix = f"{PREFIX}{secrets.token_hex(4)}"
    secret = f"{prefix}_{secrets.token_hex(32)}"
    made = Made(uuid4(), prefix, secret)
    row = {
        "id": made.id,
        "prefix": prefix,
        "hash": hash_of(secret),
        "name": wanted.name,
        "tenant_id": wanted.tenant_id,
        "scopes": sorted(str(scope) for scope in wanted.scopes),
        "operator_id": wanted.operator.id if wanted.operator else None,
        "created_by": by[:64],
        "expires_at": wanted.expires_at,
        "replaces": replaces,
    }
    await rows.insert(session, TABLE, [row])
    await _note(session, "created", wanted.tenant_id, prefix, wanted.name, by)
    return made


def _check(wanted: NewKey) -> None:
    name = wanted.name
    if not (name and name == name.strip() and name.isprintable() and len(name) <= LONGEST_NAME):
        raise UsageError("the key's name is empty or unusable", remedy="Name what uses it: 'shop import'")
    if not wanted.scopes:
        raise UsageError("the key may do nothing", remedy=f"Give it scopes: {', '.join(Scope)}")
    if Scope.REVIEW in wanted.scopes and wanted.operator is None:
        raise UsageError("a key that answers tasks does so as somebody", remedy="Name an operator")
    if wanted.operator is not None and wanted.operator.tenant_id != wanted.tenant_id:
        raise UsageError("the operator belongs to another tenant", remedy="Choose one of the key's tenant")


async def find(session: AsyncSession, secret: str) -> ApiKey | None:
    """The key, whether it works or not; `standing` says."""
    if not _LOOK.fullmatch(secret):
        return None
    found: ApiKey | None = await session.scalar(select(ApiKey).where(ApiKey.hash == hash_of(secret)))
    return found


async def touch(session: AsyncSession, key: ApiKey, now: datetime) -> None:
    """It was used; of many processes at once, one writes."""
    old = or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < now - TOUCH)
    await session.execute(
        update(ApiKey)
        .where(ApiKey.id == key.id, old)
        .values(last_used_at=now)
        .execution_options(synchronize_session=False)
    )


def is_due(key: ApiKey, now: datetime) -> bool:
    """Whether its last use is to be written down anew."""
    return key.last_used_at is None or key.last_used_at < now - TOUCH


async def everything(session: AsyncSession, tenant_id: str | None) -> Sequence[ApiKey]:
    """Of a tenant, or of all; newest first."""
    query = select(ApiKey).order_by(ApiKey.created_at.desc(), ApiKey.id)
    query = query if tenant_id is None else query.where(ApiKey.tenant_id == tenant_id)
    return list(await session.scalars(query))


async def named(session: AsyncSession, said: str, tenant_id: str | None = None) -> ApiKey:
    """By its id or its beginning (`dp_1a2b3c4d`). Raises UsageError."""
    try:
        mine = ApiKey.id == UUID(said)
    except ValueError:
        mine = ApiKey.prefix == said
    query = select(ApiKey).where(mine).limit(2)
    query = query if tenant_id is None else query.where(ApiKey.tenant_id == tenant_id)
    found = list(await session.scalars(query.execution_options(populate_existing=True)))
    if len(found) != 1:
        remedy = "docproc keys list shows them" if not found else "Name it by its id"
        raise UsageError(f"there is no one key {said[:64]!r}", remedy=remedy)
    return found[0]


async def rotate(session: AsyncSession, key: ApiKey, by: str, now: datetime, overlap: timedelta) -> Made:
    """A new key like the old one, which works on for a while: programs change over without a gap.

    Raises UsageError when the old one works no more.
    """
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now):
        raise UsageError(f"the key {key.prefix} works no more", remedy="Create a new one")
    operator = await session.get(Operator, key.operator_id) if key.operator_id else None
    lasts = key.expires_at - key.created_at if key.expires_at else None
    scopes = [Scope(scope) for scope in key.scopes]
    wanted = NewKey(key.name, key.tenant_id, scopes, operator, now + lasts if lasts else None)
    made = await create(session, wanted, by, replaces=key.id)
    ends = min(key.expires_at or now + overlap, now + overlap)
    await _change(session, key.id, expires_at=ends)
    await _note(session, "rotated", key.tenant_id, key.prefix, key.name, by)
    return made


async def revoke(session: AsyncSession, key: ApiKey, by: str, now: datetime) -> None:
    """From now on; one that is revoked stays so."""
    if key.revoked_at is None:
        await _change(session, key.id, revoked_at=now)
        await _note(session, "revoked", key.tenant_id, key.prefix, key.name, by)


async def _change(session: AsyncSession, key_id: UUID, **values: Any) -> None:
    await session.execute(
        update(ApiKey)
        .where(ApiKey.id == key_id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )


async def _note(session: AsyncSession, outcome: str, tenant_id: str, prefix: str, name: str, by: str) -> None:
    data = {"key": prefix, "name": name, "by": by}
    await events.record(session, [Event(None, "key", tenant_id=tenant_id, outcome=outcome, data=data)])


def standing(key: ApiKey, now: datetime) -> str:
    """For people: whether it works."""
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    return "active"


def told(key: ApiKey, now: datetime) -> dict[str, Any]:
    """A key as programs read of it; never the key itself."""
    names = (
        *("id", "prefix", "name", "tenant_id", "created_at", "created_by"),
        *("expires_at", "revoked_at", "last_used_at", "replaces"),
    )
    return {
        **{name: getattr(key, name) for name in names},
        "scopes": list(key.scopes),
        "standing": standing(key, now),
    }
