"""The key families of the specification (§2.2) in Redis: sessions, notifications, tenants' configuration, and
what was dropped.

Redis has copies. The database is the truth: a session that is missing here is read there and put back, and
after a flush all of them are. So nothing fails when Redis is away; it is only slower.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import structlog
from redis.exceptions import RedisError

from docproc.apps.orchestrator.services.wires.redis_protocol import client
from docproc.engine.message import utc_now
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

# §5.1: a session lives for half an hour without use, unless its tenant has another time.
SESSION_SECONDS: Final = 1800
NOTIFICATION_SECONDS: Final = 600
# Not specified: long enough for somebody to look.
DROPPED_SECONDS: Final = 7 * 24 * 3600
# Of notifications and of what was dropped, the latest.
MOST_ENTRIES: Final = 1000

# Who keeps the keys as the database says; missing after a flush, and then they are written anew.
KEEPER: Final = "orchestrator:keeper"

_AWAY = (RedisError, OSError, TimeoutError)


def session_key(tenant_id: str, session_id: str) -> str:
    return f"orchestrator:session:{tenant_id}:{session_id}"


def notifications_key(kind: str) -> str:
    return f"orchestrator:system:notifications:{kind}"


def config_key(tenant_id: str) -> str:
    return f"orchestrator:tenant:{tenant_id}:config"


def dropped_key(tenant_id: str) -> str:
    return f"orchestrator:dlq:{tenant_id}"


# KEYS: the stream. ARGV: how many it keeps, for how long (s), the moment, and what is told.
_NOTIFY: Final = """
for n = 4, #ARGV do
    redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], '*', 'body', ARGV[n], 'at', ARGV[3])
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
"""


class RedisKeys:
    """Writes and reads the keys. While Redis is away, writing does nothing and reading finds nothing."""

    def __init__(self, url: str) -> None:
        self._redis = client(url)
        self._notify = self._redis.register_script(_NOTIFY)
        self._is_away = False

    async def close(self) -> None:
        with contextlib.suppress(*_AWAY):
            await self._redis.aclose()

    # --- sessions -------------------------------------------------------------------------------------

    async def put_session(
        self, tenant_id: str, session_id: str, state: Mapping[str, Any], seconds: int = SESSION_SECONDS
    ) -> None:
        """What the row says now; the time of the key begins anew."""
        async with self._trying():
            await self._redis.set(session_key(tenant_id, session_id), _json(state), ex=max(1, seconds))

    async def session(
        self,
        tenant_id: str,
        session_id: str,
        load: Callable[[], Awaitable[Mapping[str, Any] | None]],
        seconds: int = SESSION_SECONDS,
    ) -> Mapping[str, Any] | None:
        """The copy, whose time begins anew; where there is none, what `load` finds in the database is put
        there."""
        async with self._trying():
            found = await self._redis.getex(session_key(tenant_id, session_id), ex=max(1, seconds))
            if found is not None:
                return _parsed(found)
        state = await load()
        if state is not None:
            await self.put_session(tenant_id, session_id, state, seconds)
        return state

    async def end_session(self, tenant_id: str, session_id: str) -> None:
        async with self._trying():
            await self._redis.delete(session_key(tenant_id, session_id))

    # --- notifications --------------------------------------------------------------------------------

    async def notify(self, kind: str, said: Mapping[str, Any]) -> None:
        """For whoever watches the system: a stream for each kind, which lives for ten minutes."""
        await self.notify_all([(kind, said)])

    async def notify_all(self, told: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Several, in one round trip for each kind. Of each kind no more are sent than are kept."""
        by_kind: dict[str, list[Mapping[str, Any]]] = {}
        for kind, said in told:
            by_kind.setdefault(kind, []).append(said)
        if not by_kind:
            return
        now = utc_now().isoformat()
        async with self._trying():
            for kind, all_said in by_kind.items():
                bodies = [_json(said) for said in all_said[-MOST_ENTRIES:]]
                key = notifications_key(kind)
                await self._notify(keys=[key], args=[MOST_ENTRIES, NOTIFICATION_SECONDS, now, *bodies])

    async def notifications(self, kind: str, limit: int = 100) -> list[Mapping[str, Any]]:
        """The latest, newest first."""
        async with self._trying():
            entries: Any = await self._redis.xrevrange(notifications_key(kind), count=limit)
            return [_parsed(fields[b"body"]) for _, fields in entries]
        return []

    # --- tenants --------------------------------------------------------------------------------------

    async def put_config(self, tenant_id: str, config: Mapping[str, Any]) -> None:
        """For ever; it is written again when the row changes, and after a flush."""
        async with self._trying():
            await self._redis.set(config_key(tenant_id), _json(config))

    async def config(
        self, tenant_id: str, load: Callable[[], Awaitable[Mapping[str, Any] | None]]
    ) -> Mapping[str, Any] | None:
        async with self._trying():
            found = await self._redis.get(config_key(tenant_id))
            if found is not None:
                return _parsed(found)
        config = await load()
        if config is not None:
            await self.put_config(tenant_id, config)
        return config

    async def end_config(self, tenant_id: str) -> None:
        async with self._trying():
            await self._redis.delete(config_key(tenant_id))

    # --- what was dropped -----------------------------------------------------------------------------

    async def drop(self, tenant_id: str, envelope: Mapping[str, Any], reason: str) -> None:
        """An envelope that nobody will work on any more (its `expires_at` passed, say), and why."""
        key = dropped_key(tenant_id)
        entry = {"envelope": _json(envelope), "reason": reason, "at": utc_now().isoformat()}
        async with self._trying(), self._redis.pipeline(transaction=True) as pipe:
            pipe.xadd(key, entry, maxlen=MOST_ENTRIES)  # type: ignore[arg-type] # str is among what it takes
            pipe.expire(key, DROPPED_SECONDS)
            await pipe.execute()

    async def dropped(self, tenant_id: str, limit: int = 100) -> list[dict[str, Any]]:
        """The latest, newest first."""
        async with self._trying():
            entries: Any = await self._redis.xrevrange(dropped_key(tenant_id), count=limit)
            return [
                {
                    "envelope": _parsed(fields[b"envelope"]),
                    "reason": fields[b"reason"].decode(),
                    "at": fields[b"at"].decode(),
                }
                for _, fields in entries
            ]
        return []

    # --- who keeps them ---------------------------------------------------------------------------------

    async def hold(self, name: str, seconds: int) -> str | None:
        """Be the one who keeps the keys for so long: "anew" where nobody was, "still" where this one was;
        None: another is, or Redis is away."""
        async with self._trying():
            if await self._redis.set(KEEPER, name, nx=True, ex=seconds):
                return "anew"
            held: Any = await self._redis.get(KEEPER)
            if held is not None and held.decode() == name:
                await self._redis.expire(KEEPER, seconds)
                return "still"
        return None

    async def release(self, name: str) -> None:
        async with self._trying():
            held: Any = await self._redis.get(KEEPER)
            if held is not None and held.decode() == name:
                await self._redis.delete(KEEPER)

    # --- after a flush --------------------------------------------------------------------------------

    async def rebuild(
        self,
        sessions: Sequence[tuple[str, str, Mapping[str, Any], datetime]],
        configs: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """Put back what is not there: tenants' configuration, and sessions (tenant, id, state, end) with the
        time that they have left."""
        now = utc_now()
        async with self._trying(), self._redis.pipeline(transaction=False) as pipe:
            for tenant_id, config in configs.items():
                pipe.set(config_key(tenant_id), _json(config), nx=True)
            for tenant_id, session_id, state, end in sessions:
                left = int((end - now).total_seconds())
                if left > 0:
                    pipe.set(session_key(tenant_id, session_id), _json(state), ex=left, nx=True)
            await pipe.execute()

    @contextlib.asynccontextmanager
    async def _trying(self) -> AsyncIterator[None]:
        """Trouble with Redis is told once, and is nobody's failure."""
        try:
            yield
        except _AWAY as error:
            if not self._is_away:
                log.warning("redis_keys_away", error=text_for_logs(error))
            self._is_away = True
        else:
            self._is_away = False


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def _parsed(text: bytes | str) -> dict[str, Any]:
    found = json.loads(text)
    return found if isinstance(found, dict) else {}
