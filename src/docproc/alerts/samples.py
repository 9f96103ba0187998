"""Samples: what a metric is at one moment, for one queue, service, tenant and so on."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from docproc.engine.store.tenants import DEFAULT

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from docproc.app import App

# The label that says whose a sample is. Others than that tenant see it only if they look after everything.
TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class Sample:
    metric: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    # Of how many calls, messages and so on it tells. Rules may ask for enough of them.
    count: int = 1

    @property
    def series(self) -> str:
        """Its labels as one text, the same whatever their order: `queue=q.ocr,tenant=acme`."""
        return series_of(self.labels)

    @property
    def tenant_id(self) -> str:
        return self.labels.get(TENANT, DEFAULT)


def series_of(labels: Mapping[str, str]) -> str:
    return ",".join(f"{name}={_escaped(labels[name])}" for name in sorted(labels))


def labels_of(series: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in series.split(",") if part)
    return {name: value.replace("%2C", ",").replace("%25", "%") for name, _, value in pairs}


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace(",", "%2C")


class Source(Protocol):
    """Where samples come from; an application names its own in its manifest's `alerts`.

    Called once in the whole deployment, every few seconds, with a session that only reads. `since` is where
    the last minute begins: rates and means are of that minute. It must be quick: recent rows only.
    """

    def __call__(self, app: App, session: AsyncSession, since: datetime, /) -> Awaitable[list[Sample]]: ...
