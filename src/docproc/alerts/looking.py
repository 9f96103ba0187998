"""What somebody may see of alerts and metrics."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from docproc.alerts import history
from docproc.alerts.history import Point
from docproc.app import App
from docproc.engine.message import utc_now
from docproc.engine.store.tenants import DEFAULT
from docproc.http.access.caller import Caller
from docproc.http.access.scopes import Scope


def whose(caller: Caller) -> str | None:
    """The tenant whose rows a caller may see; None: everybody's, for those who look after the deployment."""
    if caller.tenant_id == DEFAULT and Scope.ADMIN in caller.scopes:
        return None
    return caller.tenant_id


async def points(
    app: App,
    caller: Caller,
    minutes: int,
    metric: str | None = None,
    metrics: Collection[str] = (),
    label: str = "",
) -> list[Point]:
    since = utc_now() - timedelta(minutes=minutes)
    async with app.store.reading() as session:
        return await history.points(
            session, since, metric=metric, metrics=metrics, label=label, tenant_id=whose(caller)
        )
