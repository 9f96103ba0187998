"""The guard's view of a service of the catalogue."""

from __future__ import annotations

import dataclasses

from docproc.apps.orchestrator.resilience.levels import BREAKERS, ServiceLevel, ServicePolicy
from docproc.apps.orchestrator.services.catalogue import Service


def policy_of(service: Service) -> ServicePolicy:
    level = ServiceLevel(service.criticality.value)
    changed = service.breaker.model_dump(exclude_none=True)
    return ServicePolicy(
        service.name,
        level,
        has_second=service.standby_queue is not None or service.standby_url is not None,
        when_open=service.when_open,
        standard_answer=service.standard_answer,
        breaker=dataclasses.replace(BREAKERS[level], **changed) if changed else None,
    )
