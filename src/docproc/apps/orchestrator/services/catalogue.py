"""The services: what each one does, how it is integrated, and which queue leads to it (specification §7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from docproc.apps.orchestrator.envelope.models import MessageType, ServiceName
from docproc.apps.orchestrator.settings import OrchestratorSettings
from docproc.errors import ConfigurationError
from docproc.settings import Settings


class Integration(StrEnum):
    """How a service can be reached; §7.1 gives each two ways or one."""

    QUEUE = "queue"
    REST = "rest"
    WEBSOCKET = "websocket"


class Criticality(StrEnum):
    """What it means when the service is away (§6.1)."""

    CRITICAL = "critical"
    STANDARD = "standard"
    NON_CRITICAL = "non_critical"


class BreakerSettings(BaseModel):
    """What is different from the breaker of the service's criticality (§6.1)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Share of failures among the last `window` calls from which on it opens.
    opens_at: float | None = Field(default=None, gt=0, le=1)
    window: int | None = Field(default=None, ge=1, le=256)
    reset_seconds: float | None = Field(default=None, gt=0)
    probe_seconds: float | None = Field(default=None, gt=0)
    probes_to_close: int | None = Field(default=None, ge=1)


class Service(BaseModel):
    """One service, as the catalogue knows it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ServiceName
    queue: str = Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9:._-]*$")
    title: str = ""
    # §7.1: the ways it is integrated by; the first is used unless it has an address.
    integrations: tuple[Integration, ...] = (Integration.QUEUE,)
    # False: it gets messages and answers nothing but the receipt.
    answers: bool = True
    priority: int = Field(default=5, ge=0, le=9)
    criticality: Criticality = Criticality.STANDARD
    breaker: BreakerSettings = BreakerSettings()
    # While it is away: what is answered for it (unset: that it is away), and, where it is not critical,
    # whether calls wait for it or are cancelled.
    standard_answer: dict[str, Any] | None = None
    when_open: Literal["postpone", "cancel"] = "postpone"
    # Domains, or `domain.action`, that lead here.
    takes: tuple[str, ...] = ()
    # Whom it may need while it works (§7.2).
    secondary: tuple[str, ...] = ()
    # Where it answers over REST or WebSocket instead of its queue, and where calls go when that is down.
    url: Annotated[str | None, Field(pattern=r"^(https?|wss?)://[!-~]+$")] = None
    standby_url: Annotated[str | None, Field(pattern=r"^(https?|wss?)://[!-~]+$")] = None
    # The queue that calls go to while the service is down.
    standby_queue: str | None = None
    # What is asked every few seconds (`probe_seconds` of its breaker) whether it is there; unset: calls tell.
    health_url: Annotated[str | None, Field(pattern=r"^https?://[!-~]+$")] = None

    @model_validator(mode="after")
    def _way_of_address(self) -> Service:
        if self.url is not None and self.way not in self.integrations:
            raise ValueError(f"{self.name} is not integrated by {self.way}: add it to integrations")
        return self

    @property
    def way(self) -> Integration:
        """How calls travel: by its address where it has one, else over its queue."""
        if self.url is None:
            return Integration.QUEUE
        return Integration.REST if self.url.startswith("http") else Integration.WEBSOCKET


# §7.1 and §7.2; the conversation service is in §2.3.
SPECIFIED: Final = (
    Service(
        name="agent-execution",
        title="Agent Execution",
        queue="agent:execution",
        integrations=(Integration.QUEUE, Integration.WEBSOCKET),
        priority=3,
        criticality=Criticality.CRITICAL,
        takes=("agent",),
        secondary=("tool-registry", "query-service"),
    ),
    Service(
        name="workflow-engine",
        title="Workflow Engine",
        queue="workflow:engine",
        integrations=(Integration.QUEUE, Integration.REST),
        priority=4,
        takes=("workflow",),
        secondary=("agent-execution",),
    ),
    Service(
        name="tool-registry",
        title="Tool Registry",
        queue="tools:registry",
        integrations=(Integration.QUEUE, Integration.REST),
        priority=3,
        takes=("tool",),
    ),
    Service(
        name="query-service",
        title="Query Service",
        queue="query:service",
        integrations=(Integration.QUEUE, Integration.WEBSOCKET),
        priority=5,
        takes=("agent.query", "workflow.query", "tool.query", "conversation.query", "system.query"),
        secondary=("database-service",),
    ),
    Service(
        name="conversation-service",
        title="Conversation Service",
        queue="conversation:service",
        priority=6,
        takes=("conversation",),
    ),
    Service(
        name="system-operations",
        title="System Operations",
        queue="system:ops",
        priority=1,
        criticality=Criticality.CRITICAL,
        takes=("system",),
    ),
    Service(
        name="database-service",
        title="Database Service",
        queue="database:service",
        answers=False,
        priority=6,
    ),
    Service(
        name="analytics-service",
        title="Analytics Service",
        queue="analytics:service",
        answers=False,
        priority=8,
        criticality=Criticality.NON_CRITICAL,
    ),
)


class Catalogue:
    """All services of a deployment, and which of them a type of message leads to."""

    def __init__(self, services: Iterable[Service]) -> None:
        self.services: Mapping[str, Service] = {one.name: one for one in services}
        self._by_type: dict[str, Service] = {}
        for one in self.services.values():
            for taken in one.takes:
                self._by_type.setdefault(taken, one)

    def find(self, name: str) -> Service | None:
        return self.services.get(name)

    def of_queue(self, queue: str) -> Service | None:
        return next((one for one in self.services.values() if one.queue == queue), None)

    def for_type(self, wanted: MessageType) -> Service | None:
        """The routing table: `domain.action` first, then the domain."""
        return self._by_type.get(wanted.name) or self._by_type.get(wanted.domain)


def catalogue_of(settings: Settings) -> Catalogue:
    """The specified services with what the deployment's file changes or adds. Raises ConfigurationError."""
    return _read(settings.section(OrchestratorSettings).orchestrator_services)


@lru_cache(maxsize=16)
def _read(path: Path | None) -> Catalogue:
    known: dict[str, Service] = {one.name: one for one in SPECIFIED}
    for said in _entries(path) if path else ():
        before = known.get(said.get("name", ""))
        values = {**(before.model_dump() if before else {}), **said}
        try:
            one = Service.model_validate(values)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "the entry"
            raise ConfigurationError(
                f"{path}: service {said.get('name', '?')!r}: {where}: {first['msg']}",
                remedy="See docs/reference/orchestrator.md",
            ) from error
        known[one.name] = one
    return Catalogue(known.values())


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error}", remedy="Check DOCPROC_ORCHESTRATOR_SERVICES"
        ) from error
    entries = said.get("services") if isinstance(said, dict) else None
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise ConfigurationError(
            f"{path} has no list of services", remedy="Write `services:` and a list of entries with `name:`"
        )
    return entries
