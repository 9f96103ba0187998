"""The audit of use: who came in, for what kind of thing, who was turned away; not a line for every call."""

from __future__ import annotations

from time import monotonic

import structlog

from docproc.engine.store import events
from docproc.engine.store.events import Event
from docproc.engine.store.session import Store
from docproc.http.access.caller import Caller

log = structlog.get_logger(__name__)

# Who does the same kind of thing again leaves a line now and then.
AGAIN_SECONDS = 300.0
MOST_KEPT = 50_000


class Use:
    """One per process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._noted: dict[tuple[str, ...], float] = {}

    async def allowed(self, caller: Caller, what: str, address: str) -> None:
        """`what` is the scope that was used."""
        await self._note(caller.tenant_id, f"{caller.kind} {caller.name}", what, address)

    async def refused(self, caller: Caller | None, why: str, address: str) -> None:
        """Of somebody known, or of nobody in particular."""
        who = f"{caller.kind} {caller.name}" if caller else ""
        if self._is_fresh((who, why, address)):
            log.warning("access_refused", who=who, reason=why, address=address)
            await self._record(caller.tenant_id if caller else "default", who, f"refused_{why}", address)

    async def _note(self, tenant_id: str, who: str, what: str, address: str) -> None:
        if self._is_fresh((tenant_id, who, what, address)):
            await self._record(tenant_id, who, what, address)

    def _is_fresh(self, key: tuple[str, ...]) -> bool:
        now = monotonic()
        if self._noted.get(key, -AGAIN_SECONDS) > now - AGAIN_SECONDS:
            return False
        if len(self._noted) > MOST_KEPT:
            self._noted = {one: at for one, at in self._noted.items() if at > now - AGAIN_SECONDS}
        self._noted[key] = now
        return True

    async def _record(self, tenant_id: str, who: str, outcome: str, address: str) -> None:
        data = {"by": who, "address": address}
        note = Event(None, "access", tenant_id=tenant_id, outcome=outcome[:32], data=data)
        async with self._store.writing() as session:
            await events.record(session, [note])
