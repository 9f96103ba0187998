"""Callers who keep making mistakes are held up: such calls cost a service work and help nobody (§5.2)."""

from __future__ import annotations

import time
from datetime import timedelta

from docproc.apps.orchestrator.resilience import statistics
from docproc.engine.message import utc_now
from docproc.engine.store.session import Store

# Mistakes of one tenant at one service in a minute, from which on its calls wait for the next minute.
MOST_PER_MINUTE = 60
LOOK_SECONDS = 1.0


class Limits:
    """Counts what this process saw at once, and what all of them saw once a second."""

    def __init__(self, store: Store, most_per_minute: int = MOST_PER_MINUTE) -> None:
        self.store = store
        self.most_per_minute = most_per_minute
        self._seen: dict[tuple[str, str], int] = {}
        self._minute = utc_now()
        self._looked_at = float("-inf")

    def count(self, service: str, tenant_id: str) -> None:
        self._turn()
        self._seen[(service, tenant_id)] = self._seen.get((service, tenant_id), 0) + 1

    async def wait_seconds(self, service: str, tenant_id: str) -> float:
        """How long a tenant's calls of a service wait; 0: not at all."""
        self._turn()
        if self._seen and time.monotonic() - self._looked_at > LOOK_SECONDS:
            self._looked_at = time.monotonic()
            async with self.store.reading() as session:
                everywhere = await statistics.client_errors(session, self._minute)
            for key, number in everywhere.items():
                self._seen[key] = max(number, self._seen.get(key, 0))
        if self._seen.get((service, tenant_id), 0) < self.most_per_minute:
            return 0.0
        ends = self._minute + timedelta(minutes=1)
        return max(0.05, (ends - utc_now()).total_seconds())

    def _turn(self) -> None:
        minute = utc_now().replace(second=0, microsecond=0)
        if minute != self._minute:
            self._minute, self._seen = minute, {}
