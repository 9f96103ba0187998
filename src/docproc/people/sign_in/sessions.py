"""Sessions: a random token in a cookie, of which the database knows only the hash."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import Request, Response
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store.session import Store
from docproc.engine.store.task_tables import Operator
from docproc.people.store import sign_ins
from docproc.people.store.sign_ins import Found
from docproc.settings import Settings

TOKEN_BYTES = 32
# With this prefix browsers take it from us alone, over https, for this host.
SECURE_COOKIE, PLAIN_COOKIE = "__Host-docproc", "docproc_session"
# How exact "last use" is: a write for every request would be many.
TOUCH_SECONDS = 60.0
_READING = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Session:
    """A session that just began; `token` is told to the browser and nobody else."""

    token: str
    csrf: str
    operator: Operator


def key_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


async def begin(session: AsyncSession, settings: Settings, operator: Operator, now: datetime) -> Session:
    token, csrf = secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(TOKEN_BYTES)
    row = {
        "id": key_of(token),
        "operator_id": operator.id,
        "csrf": csrf,
        "created_at": now,
        "seen_at": now,
        "expires_at": now + timedelta(hours=settings.session_hours),
        "tenant_id": operator.tenant_id,
    }
    await sign_ins.begin(session, row, now)
    return Session(token, csrf, operator)


async def current(request: Request, store: Store, settings: Settings) -> Found | None:
    """The session of a request; using it keeps it from going idle."""
    token = token_of(request, settings)
    if token is None:
        return None
    now, idle = utc_now(), timedelta(minutes=settings.session_idle_minutes)
    async with store.reading() as session:
        found = await sign_ins.find(session, key_of(token), now, idle)
    if found is not None and _is_use(request) and (now - found.seen_at).total_seconds() > TOUCH_SECONDS:
        async with store.writing() as session:
            await sign_ins.touch(session, key_of(token), now)
    return found


def _is_use(request: Request) -> bool:
    """A person did something. Scripts that only look, again and again, do not keep a session."""
    return request.method not in _READING or request.headers.get("sec-fetch-mode", "navigate") == "navigate"


# --- cookies --------------------------------------------------------------------------------------------


def is_secure(request: Request, settings: Settings) -> bool:
    if settings.backoffice_url is not None:
        return settings.backoffice_url.startswith("https://")
    return request.url.scheme == "https"


def token_of(request: Request, settings: Settings) -> str | None:
    return request.cookies.get(SECURE_COOKIE if is_secure(request, settings) else PLAIN_COOKIE)


def set_cookie(response: Response, request: Request, settings: Settings, token: str) -> None:
    """Until the browser is closed; the database ends it earlier."""
    secure = is_secure(request, settings)
    name = SECURE_COOKIE if secure else PLAIN_COOKIE
    response.set_cookie(name, token, path="/", httponly=True, samesite="lax", secure=secure)


def clear_cookie(response: Response, request: Request, settings: Settings) -> None:
    secure = is_secure(request, settings)
    name = SECURE_COOKIE if secure else PLAIN_COOKIE
    response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=secure)
