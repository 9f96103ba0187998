"""What a tenant may take: counted where its requests are accepted, in the same transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Protocol
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store import tenants
from docproc.engine.workflow.tenants import Tenant
from docproc.errors import QuotaError

REQUESTS, UNITS = "requests", "units"
# When to try again where nobody knows: what is open ends when it ends.
_OPEN_RETRY_SECONDS = 10


class CountUnits(Protocol):
    """How an application counts what requests take of a tenant's day: pages, say.

    Of the tenant's requests received since then; of one of them where it is named. Called in the transaction
    of a new request, if the tenant has such a quota, and in that of an erasure. Reads only.
    """

    def __call__(
        self, session: AsyncSession, tenant_id: str, since: datetime, request_id: UUID | None = None
    ) -> Awaitable[int]: ...


def counts_rows(tenant: Tenant) -> bool:
    """Whether `take` looks at the rows of the tenant's earlier requests."""
    quotas = tenant.settings.quotas
    return quotas.at_once is not None or quotas.units_per_day is not None


async def take(session: AsyncSession, tenant: Tenant, units: Sequence[CountUnits], now: datetime) -> None:
    """Count a new request. Raises QuotaError; the caller's transaction is rolled back then."""
    quotas = tenant.settings.quotas
    if quotas.at_once is not None:
        await tenants.locked(session, tenant.id)  # else two of them would each see room for one
        if await tenants.open_requests(session, tenant.id) >= quotas.at_once:
            raise _refusal(f"{quotas.at_once} requests of {tenant.id!r} are open", _OPEN_RETRY_SECONDS)
    if quotas.units_per_day is not None:
        today, tomorrow = _day(now), _day(now) + timedelta(days=1)
        if await used_today(session, tenant.id, units, now) >= quotas.units_per_day:
            told = f"{tenant.id!r} has used its {quotas.units_per_day} units of {today:%Y-%m-%d}"
            raise _refusal(told, ceil((tomorrow - now).total_seconds()))
    limits = [one for one in (quotas.requests_per_minute, tenant.throttle) if one is not None]
    if limits:
        minute = now.replace(second=0, microsecond=0)
        most = min(limits)
        if not await tenants.take(session, tenant.id, REQUESTS, minute, 1, most):
            held = ", to which it is held back for now" if most == tenant.throttle else ""
            told = f"{tenant.id!r} has sent its {most} requests of this minute{held}"
            raise _refusal(told, max(1, ceil(60 - (now - minute).total_seconds())))


async def used_today(
    session: AsyncSession, tenant_id: str, units: Sequence[CountUnits], now: datetime
) -> int:
    """What today's requests took, erased ones included."""
    today = _day(now)
    living = [await count(session, tenant_id, today) for count in units]
    return sum(living) + await tenants.taken(session, tenant_id, UNITS, today)


async def keep_count(
    session: AsyncSession, tenant_id: str, request_id: UUID, units: Sequence[CountUnits], now: datetime
) -> None:
    """A request is about to be erased: what it took of today stays taken."""
    today = _day(now)
    number = sum([await count(session, tenant_id, today, request_id) for count in units])
    if number:
        await tenants.take(session, tenant_id, UNITS, today, number, None)


def _day(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _refusal(told: str, seconds: int) -> QuotaError:
    return QuotaError(told, retry_seconds=seconds, remedy=f"Send it again in {seconds} s, or ask for more")
