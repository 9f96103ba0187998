"""Copies in Redis that the API itself changes; where there is no Redis, there are none."""

from __future__ import annotations

from typing import Any, Protocol

from docproc.app import App
from docproc.application import load
from docproc.apps.orchestrator.settings import redis_address

_REDIS = "docproc.apps.orchestrator.redis_keys:RedisKeys"


class Keys(Protocol):
    """Nothing is raised while Redis is away: the database is the truth, and copies are made anew."""

    async def put_config(self, tenant_id: str, config: dict[str, Any]) -> None: ...

    async def end_session(self, tenant_id: str, session_id: str) -> None: ...


class NoKeys:
    """Embedded: nobody reads copies."""

    async def put_config(self, tenant_id: str, config: dict[str, Any]) -> None: ...

    async def end_session(self, tenant_id: str, session_id: str) -> None: ...


def keys_of(application: App) -> Keys:
    """Of an API process, made once."""
    return application.shared(_make)


def _make(application: App) -> Keys:
    url = redis_address(application.settings)
    if url is None:
        return NoKeys()
    keys: Keys = load(_REDIS)(url)
    return keys
