"""History for time limits: how long calls of a kind usually take, and how much slower they are now."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta

from docproc.apps.orchestrator.resilience import statistics
from docproc.apps.orchestrator.resilience.statistics import Usual
from docproc.apps.orchestrator.resilience.timeouts import Facts
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store

# Looked up again so often: limits follow history slowly on purpose.
LOOK_SECONDS = 15.0
_PAST = timedelta(hours=24)
_NOW = timedelta(minutes=2)
# Fewer calls do not tell that a service is loaded.
_ENOUGH_NOW = 10


class History:
    def __init__(self, store: Store, look_seconds: float = LOOK_SECONDS) -> None:
        self.store = store
        self.look_seconds = look_seconds
        self._known: dict[tuple[str, str], tuple[float, Usual | None, Usual | None]] = {}

    async def complete(self, service: str, message_type: str, facts: Facts) -> Facts:
        """The facts with what the past says."""
        past, now = await self._look(service, message_type)
        if past is None:
            return facts
        load = 1.0
        if now is not None and now.calls >= _ENOUGH_NOW and past.mean_seconds:
            load = max(1.0, now.mean_seconds / past.mean_seconds)
        return replace(facts, usual_seconds=past.p95_seconds, known_calls=past.calls, load=load)

    async def _look(self, service: str, message_type: str) -> tuple[Usual | None, Usual | None]:
        key = (service, message_type)
        known = self._known.get(key)
        if known is not None and time.monotonic() - known[0] < self.look_seconds:
            return known[1], known[2]
        moment = utc_now()
        async with self.store.reading() as session:
            past = await statistics.usual(session, service, message_type, moment - _PAST)
            now = await statistics.usual(session, service, message_type, moment - _NOW)
        if len(self._known) > 1000:  # types come from outside
            self._known.clear()
        self._known[key] = (time.monotonic(), past, now)
        return past, now
