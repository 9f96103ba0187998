"""The door: lets people in by password or by what their identity provider says, and out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from sqlalchemy import select

from docproc.engine.message import utc_now
from docproc.engine.store.session import Store
from docproc.engine.store.task_tables import Operator
from docproc.errors import NotAllowedError
from docproc.people.sign_in import limits, passwords, sessions
from docproc.people.sign_in.sessions import Session
from docproc.people.store import accounts, sign_ins
from docproc.people.store.accounts import Account
from docproc.people.store.sign_ins import Attempt
from docproc.settings import Settings

log = structlog.get_logger(__name__)

LONGEST_NAME = 64


class Door:
    """One per process. `skills` are given to whom an identity provider brings."""

    def __init__(self, store: Store, settings: Settings, skills: Sequence[str]) -> None:
        self.skills = skills
        self.store = store
        self.settings = settings

    async def by_password(self, name: str, password: str, address: str) -> Session | None:
        """A session, or None when name and password do not fit. Raises TooManyAttempts."""
        if not is_name(name):
            return None
        next_waits = await limits.take(self.store, name, address, utc_now())
        operator = await self._with_password(name)
        known = operator.password_hash if operator else None
        if not await passwords.fits(known, password) or operator is None:
            attempt = _attempt(operator, address) if operator else Attempt(name, address)
            await self._refused("locked" if next_waits else "refused", attempt)
            return None
        if known is not None and passwords.is_outdated(known):
            known = await passwords.hash_away(password)
        return await self._let_in(operator, known, address)

    async def _with_password(self, name: str) -> Operator | None:
        query = select(Operator).where(Operator.username == name, Operator.is_active)
        async with self.store.reading() as session:
            found: Operator | None = await session.scalar(query)
        return found

    async def _let_in(self, operator: Operator, password_hash: str | None, address: str) -> Session | None:
        now = utc_now()
        async with self.store.writing() as session:
            if not await accounts.is_unchanged(session, operator):
                return None
            if password_hash != operator.password_hash:
                await accounts.renew_hash(session, operator, password_hash)
            await limits.give_back(session, operator.username, address, now)
            await sign_ins.note(session, "ok", _attempt(operator, address))
            return await sessions.begin(session, self.settings, operator, now)

    async def _refused(self, outcome: str, attempt: Attempt) -> None:
        facts = {"name": attempt.name, "address": attempt.address, "way": attempt.way}
        log.warning("sign_in_refused", outcome=outcome, **facts)
        async with self.store.writing() as session:
            await sign_ins.note(session, outcome, attempt)

    async def change_password(self, operator: Operator, old: str, new: str, address: str) -> Session | None:
        """Ends every session of the person and begins one; None when the old password does not fit.

        Raises TooManyAttempts, and UsageError when the new one is no password to choose.
        """
        passwords.check(new)
        next_waits = await limits.take(self.store, operator.username, address, utc_now())
        if not await passwords.fits(operator.password_hash, old):
            await self._refused("locked" if next_waits else "refused", _attempt(operator, address))
            return None
        hashed, now = await passwords.hash_away(new), utc_now()
        async with self.store.writing() as session:
            if not await accounts.is_unchanged(session, operator):
                return None
            await accounts.set_password(session, operator, hashed, by=operator.username)
            await limits.give_back(session, operator.username, address, now)
            return await sessions.begin(session, self.settings, operator, now)

    # --- identity providers -----------------------------------------------------------------------------

    async def by_identity(self, claims: Mapping[str, Any], address: str) -> Session:
        """For a verified identity. Raises NotAllowedError when no active operator is linked with it."""
        subject = str(claims["sub"])
        operator = await self._linked(subject)
        if operator is None and self.settings.oidc_create:
            operator = await self._made(subject, claims)
        if operator is None:
            await self._refused("refused", Attempt(subject[:255], address, "oidc"))
            raise NotAllowedError(
                f"nobody here is linked with your identity {subject!r}",
                remedy="Ask an administrator to run: docproc operator link NAME IDENTITY",
            )
        now = utc_now()
        async with self.store.writing() as session:
            await sign_ins.note(session, "ok", _attempt(operator, address, "oidc"))
            return await sessions.begin(session, self.settings, operator, now)

    async def _linked(self, subject: str) -> Operator | None:
        async with self.store.reading() as session:
            return await accounts.by_subject(session, subject)

    async def _made(self, subject: str, claims: Mapping[str, Any]) -> Operator | None:
        """A new operator; a name that is taken is never taken over."""
        wanted = (claims.get("preferred_username"), claims.get("email"), subject)
        name = next((one for one in wanted if isinstance(one, str) and is_name(one)), None)
        if name is None:
            return None
        shown = claims.get("name")
        account = Account(
            name,
            self.skills,
            display_name=shown[:255] if isinstance(shown, str) and shown.isprintable() else None,
            oidc_subject=subject,
        )
        async with self.store.writing() as session:
            await accounts.add(session, account, by="oidc")
        return await self._linked(subject)  # None: the name, or the switched-off account, is somebody's

    async def forget(self, token: str) -> None:
        """End a session that another one follows."""
        async with self.store.writing() as session:
            await sign_ins.end(session, sessions.key_of(token))

    async def leave(self, token: str, operator: Operator, address: str) -> None:
        async with self.store.writing() as session:
            await sign_ins.end(session, sessions.key_of(token))
            await sign_ins.note(session, "ended", _attempt(operator, address))


def _attempt(operator: Operator, address: str, way: str = "password") -> Attempt:
    return Attempt(operator.username, address, way, operator.tenant_id)


def is_name(name: str) -> bool:
    return bool(name) and name == name.strip() and len(name) <= LONGEST_NAME and name.isprintable()
