"""Keys of a tenant's programs, and the tenants that an administrator may look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store import tenants
from docproc.engine.store.task_tables import Operator
from docproc.errors import InvalidAnswerError, NotAllowedError, UsageError
from docproc.http.access import keys
from docproc.http.access.keys import Made, NewKey
from docproc.http.access.scopes import Scope
from docproc.http.access.tables import ApiKey
from docproc.people.desk import Desk
from docproc.people.sign_in import gate, sessions, tenancy
from docproc.people.station.context import Admin, Application, DeskOf, Said
from docproc.people.station.routes.sign_in import must_be_on
from docproc.people.station.routes.supervising import Chief, SupervisorRoute, done, shown
from docproc.people.store import accounts, claims

router = APIRouter(prefix="/supervisor", route_class=SupervisorRoute, include_in_schema=False)

LONGEST_DAYS = 3650
OVERLAP_HOURS = 24
KeyId = Annotated[UUID, Path()]


# --- keys -----------------------------------------------------------------------------------------------


@router.get("/keys")
async def show_keys(request: Request, desk: DeskOf, operator: Chief) -> Response:
    return await _keys_page(request, desk, operator)


@router.post("/keys")
async def create_key(request: Request, desk: DeskOf, operator: Chief, said: Said) -> Response:
    """Shows the key, once. With `name`, `scope.read` and so on, `days` and `acts_as`."""
    must_be_on(desk.application.settings)
    with _told_as_problems():
        async with desk.store.writing() as session:
            made = await keys.create(session, await _wanted(session, operator, said), operator.username)
    return await _told_once(request, desk, operator, made)


@router.post("/keys/{key_id}/rotate")
async def rotate_key(request: Request, desk: DeskOf, operator: Chief, key_id: KeyId) -> Response:
    must_be_on(desk.application.settings)
    overlap = timedelta(hours=OVERLAP_HOURS)
    with _told_as_problems():
        async with desk.store.writing() as session:
            key = await _key(session, key_id, operator)
            made = await keys.rotate(session, key, operator.username, utc_now(), overlap)
    return await _told_once(request, desk, operator, made)


@router.post("/keys/{key_id}/revoke")
async def revoke_key(request: Request, desk: DeskOf, operator: Chief, key_id: KeyId) -> Response:
    must_be_on(desk.application.settings)
    async with desk.store.writing() as session:
        await keys.revoke(session, await _key(session, key_id, operator), operator.username, utc_now())
    return done(request, operator, "/supervisor/keys")


@contextmanager
def _told_as_problems() -> Iterator[None]:
    """What a command would say of a mistake is said of what was typed here."""
    try:
        yield
    except (NotAllowedError, InvalidAnswerError):
        raise
    except UsageError as error:
        raise InvalidAnswerError(str(error.args[0]), remedy=error.remedy) from error


def _may_give(operator: Operator) -> list[Scope]:
    """What a supervisor may not do, no key of theirs may either."""
    is_admin = "admin" in claims.roles_up_to(operator.role)
    return [scope for scope in Scope if is_admin or scope is not Scope.ADMIN]


async def _key(session: AsyncSession, key_id: UUID, operator: Operator) -> ApiKey:
    try:
        key = await keys.named(session, str(key_id), operator.tenant_id)
    except UsageError:
        raise NotAllowedError("there is no such key", remedy="Go back to the list") from None
    if not set(key.scopes) <= {str(scope) for scope in _may_give(operator)}:
        raise NotAllowedError("this key is an admin's to change", remedy="Ask an admin")
    return key


async def _wanted(session: AsyncSession, operator: Operator, said: dict[str, Any]) -> NewKey:
    """Raises InvalidAnswerError, or UsageError."""
    given = said.get("scopes")
    names = given if isinstance(given, list) else [s for s in Scope if f"scope.{s}" in said]
    scopes = [scope for scope in _may_give(operator) if scope in names]
    if len(scopes) != len(set(map(str, names))):
        raise NotAllowedError("that scope is not yours to give", remedy="Ask an admin")
    days = str(said.get("days") or "").strip()
    if days and not (days.isdecimal() and 1 <= int(days) <= LONGEST_DAYS):
        problem = f"a number of days from 1 to {LONGEST_DAYS}"
        raise InvalidAnswerError(f"days: {problem}", problems={"days": problem})
    acts_as = str(said.get("acts_as") or "").strip()
    whom = await accounts.find(session, acts_as) if acts_as else None
    ends = utc_now() + timedelta(days=int(days)) if days else None
    return NewKey(str(said.get("name") or "").strip(), operator.tenant_id, scopes, whom, ends)


async def _told_once(request: Request, desk: Desk, operator: Operator, made: Made) -> Response:
    if not gate.takes_html(request):
        return JSONResponse({"id": str(made.id), "prefix": made.prefix, "key": made.secret})
    return await _keys_page(request, desk, operator, made)


async def _keys_page(request: Request, desk: Desk, operator: Operator, made: Made | None = None) -> Response:
    now = utc_now()
    async with desk.store.reading() as session:
        found = await keys.everything(session, operator.tenant_id)
        people = [one for one in await accounts.everybody(session, operator.tenant_id) if one.is_active]
    if not gate.takes_html(request):
        return JSONResponse({"keys": [_plain(keys.told(one, now)) for one in found]})
    names = {one.id: one.username for one in people}
    lines = [(one, keys.standing(one, now), names.get(one.operator_id or one.id) or "") for one in found]
    return shown(
        request,
        "supervisor_keys.html",
        operator,
        lines=lines,
        made=made,
        scopes=_may_give(operator),
        people=sorted(names.values()),
        is_on=desk.application.settings.auth == "on",
    )


def _plain(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value if isinstance(value, list) else value and str(value) for name, value in told.items()}


# --- tenants --------------------------------------------------------------------------------------------


@router.get("/tenants")
async def show_tenants(request: Request, desk: DeskOf, operator: Admin) -> Response:
    """For administrators of the installation."""
    async with desk.store.reading() as session:
        known = {one.tenant_id: one for one in await tenants.everybody(session)}
        lines = [(name, known.get(name)) for name in await tenants.names(session)]
    return shown(request, "supervisor_tenants.html", operator, lines=lines)


@router.post("/tenants/choose")
async def choose_tenant(
    request: Request, application: Application, desk: DeskOf, operator: Admin, said: Said
) -> Response:
    """Look at another tenant from now on: `tenant_id`."""
    must_be_on(application.settings)
    wanted = str(said.get("tenant_id") or "")
    application.tenants.forget()
    if await application.tenants.find(wanted) is None:
        raise NotAllowedError("there is no such tenant", remedy="Go back to the list")
    answer = done(request, operator, "/supervisor")
    secure = sessions.is_secure(request, application.settings)
    answer.set_cookie(tenancy.COOKIE, wanted, path="/", httponly=True, samesite="lax", secure=secure)
    return answer
