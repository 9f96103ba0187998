"""Probes: services with a `health_url` are asked whether they are there, also while nobody calls them.

A breaker learns from calls. Of a service that nobody calls it would learn neither that it is down nor that it
is back, so that calls would go on to its second endpoint, and what is told of it would be old.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import httpx
import structlog

from docproc.apps.orchestrator.resilience.breakers import Breakers
from docproc.apps.orchestrator.resilience.calls import PRIMARY
from docproc.apps.orchestrator.resilience.policies import policy_of
from docproc.apps.orchestrator.services.catalogue import Catalogue, Service

log = structlog.get_logger(__name__)

# A service that does not say in so long that it is well, is not.
PROBE_SECONDS = 3.0
AT_ONCE = 8
# A single lost packet opens no breaker.
FAILURES_IN_A_ROW = 3
REASON = "health_probe"


class Prober:
    """Of the process that has the duty. What it learns goes to the breakers, which all replicas share."""

    def __init__(self, breakers: Breakers, catalogue: Catalogue) -> None:
        self._breakers = breakers
        self._services = [one for one in catalogue.services.values() if one.health_url is not None]
        self._due: dict[str, float] = {}
        self._failures: Counter[str] = Counter()
        self._room = asyncio.Semaphore(AT_ONCE)
        self._http = httpx.AsyncClient(timeout=PROBE_SECONDS, trust_env=False, follow_redirects=False)

    async def look(self) -> None:
        """Probe those whose interval is over, side by side."""
        now = time.monotonic()
        due = [one for one in self._services if now >= self._due.get(one.name, now)]
        for one in due:
            self._due[one.name] = now + policy_of(one).breaker_policy.probe_seconds
        await asyncio.gather(*(self._probe(one) for one in due))

    async def close(self) -> None:
        await self._http.aclose()

    async def _probe(self, service: Service) -> None:
        policy = policy_of(service)
        admission = await self._breakers.admit(policy)
        if not admission.is_allowed:  # open, and its reset time is not over
            return
        is_well = await self._is_well(service)
        if admission.is_probe:
            await self._breakers.probed(policy, PRIMARY, admission.generation, passed=is_well)
        self._failures[service.name] = 0 if is_well else self._failures[service.name] + 1
        if self._failures[service.name] >= FAILURES_IN_A_ROW:
            await self._breakers.trip(policy, REASON)

    async def _is_well(self, service: Service) -> bool:
        """Any answer of the 200s says so."""
        assert service.health_url is not None
        async with self._room:
            try:
                # The time limits of the library are for each part of an answer; this one is for the whole.
                async with (
                    asyncio.timeout(PROBE_SECONDS),
                    self._http.stream("GET", service.health_url) as answer,
                ):
                    return answer.is_success
            except (httpx.HTTPError, TimeoutError, OSError) as error:
                log.debug("health_probe_failed", service=service.name, error=type(error).__name__)
                return False
