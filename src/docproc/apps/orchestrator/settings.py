"""The settings of the orchestrator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from docproc.settings import Settings, SettingsSection


class OrchestratorSettings(SettingsSection):
    # The Redis of the service queues and the key families; unset: that of the transport, or none.
    orchestrator_redis_url: str | None = None
    # How envelopes reach services; unset: `redis` where its address is set, else `sql`.
    orchestrator_wire: Literal["sql", "redis"] | None = None
    # A YAML file of services beside, or instead of, the specified ones.
    orchestrator_services: Path | None = None
    # Services that the packaged samples stand in for; unset: all that have no address, when embedded.
    orchestrator_samples: Annotated[tuple[str, ...] | None, NoDecode] = None
    # An envelope that nobody has answered is published again after so long.
    orchestrator_resend_seconds: float = Field(default=15.0, gt=0)
    # The most steps of one plan.
    orchestrator_max_steps: int = Field(default=100, ge=1, le=1000)
    # WebSockets of clients in one API process.
    orchestrator_max_sockets: int = Field(default=2500, ge=0)

    @field_validator("orchestrator_samples", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        """`a,b` from the environment; `none` is nobody."""
        if isinstance(value, str):
            names = tuple(part.strip() for part in value.split(",") if part.strip())
            return () if names == ("none",) else names
        return value


def wire_name(settings: Settings) -> str:
    """Which wire carries envelopes here."""
    own = settings.section(OrchestratorSettings)
    return own.orchestrator_wire or ("redis" if redis_address(settings) else "sql")


def redis_address(settings: Settings) -> str | None:
    """Where the service queues and the key families are; None: there is no Redis, and none is needed."""
    return settings.section(OrchestratorSettings).orchestrator_redis_url or settings.redis_url
