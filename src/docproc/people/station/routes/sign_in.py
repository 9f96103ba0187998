"""In and out: the sign-in page, the way over an identity provider, and signing out."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from docproc.errors import NotAllowedError
from docproc.harmless import text_for_logs
from docproc.http.access.scopes import open_to_all
from docproc.http.problems import Problem
from docproc.people import texts
from docproc.people.sign_in import gate, sessions
from docproc.people.sign_in.door import Door
from docproc.people.sign_in.limits import TooManyAttempts
from docproc.people.sign_in.oidc import IdentityError, Pending, Provider
from docproc.people.sign_in.sessions import Session
from docproc.people.station import pages
from docproc.people.station.context import Application, Said
from docproc.settings import Settings

log = structlog.get_logger(__name__)
router = APIRouter(tags=["sign-in"])

PENDING_COOKIE = "docproc_oidc"
PENDING_SECONDS = 600
LONGEST_NEXT = 1000

DoorOf = Annotated[Door, Depends(gate.door_of)]
ProviderOf = Annotated[Provider | None, Depends(gate.provider)]
Next = Annotated[str, Query(alias="next", description="Where to go afterwards")]


@router.get("/sign-in", summary="The page to sign in on", response_class=Response)
@open_to_all
async def show(request: Request, application: Application, next_page: Next = "/") -> Response:
    if application.settings.auth == "off":
        return RedirectResponse("/", 303)
    notice = _text(request, "sign_in_ended") if "ended" in request.query_params else ""
    return _page(request, next_page, notice=notice)


@router.post("/sign-in", summary="Sign in with name and password", response_class=Response)
@open_to_all
async def sign_in(request: Request, application: Application, door: DoorOf, said: Said) -> Response:
    """A page is redirected; a program gets `{"operator", "csrf"}`. 429 with Retry-After: wait."""
    must_be_on(application.settings)
    name, password = str(said.get("name") or "").strip(), str(said.get("password") or "")
    try:
        session = await door.by_password(name, password, address_of(request))
    except TooManyAttempts as error:
        return _too_many(request, said, error.seconds)
    if session is None:
        return _wrong(request, said)
    await _end_old(request, application.settings, door)
    return _welcome(request, application.settings, session, str(said.get("next") or "/"))


@router.post("/sign-out", summary="End the session", response_class=Response)
@open_to_all
async def sign_out(request: Request, application: Application, door: DoorOf) -> Response:
    must_be_on(application.settings)
    operator = (await gate.signed_in(request)).operator
    token = sessions.token_of(request, application.settings) or ""
    await door.leave(token, operator, address_of(request))
    page = RedirectResponse("/sign-in?ended", 303)
    answer: Response = page if gate.takes_html(request) else Response(status_code=204)
    sessions.clear_cookie(answer, request, application.settings)
    return answer


# --- identity provider ----------------------------------------------------------------------------------


@router.get("/sign-in/oidc", summary="Go to the identity provider", response_class=Response)
@open_to_all
async def go(
    request: Request, application: Application, provider: ProviderOf, next_page: Next = "/"
) -> Response:
    pending = Pending.new(safe_next(next_page))
    back = _back(request, application.settings)
    try:
        answer = RedirectResponse(await _must_be_set(provider).address(pending, back), 303)
    except IdentityError as error:
        return _unproven(request, error)
    answer.set_cookie(
        PENDING_COOKIE,
        pending.packed(),
        max_age=PENDING_SECONDS,
        path="/sign-in",
        httponly=True,
        samesite="lax",  # the provider leads back here from its own site
        secure=sessions.is_secure(request, application.settings),
    )
    return answer


@router.get(
    "/sign-in/oidc/back", summary="Where the identity provider leads back to", response_class=Response
)
@open_to_all
async def come_back(
    request: Request,
    application: Application,
    door: DoorOf,
    provider: ProviderOf,
    code: str = "",
    state: str = "",
) -> Response:
    try:
        pending = Pending.unpacked(request.cookies.get(PENDING_COOKIE, ""))
        if not code or not secrets.compare_digest(state.encode(), pending.state.encode()):
            raise IdentityError(f"refused, or not begun here: {request.query_params.get('error', '')[:80]}")
        back = _back(request, application.settings)
        claims = await _must_be_set(provider).claims(code, pending, back)
        session = await door.by_identity(claims, address_of(request))
    except IdentityError as error:
        return _unproven(request, error)
    except NotAllowedError:
        problem = _text(request, "sign_in_unlinked", subject=claims["sub"])
        return _page(request, "/", problem=problem, status=403)
    await _end_old(request, application.settings, door)
    answer = _welcome(request, application.settings, session, pending.next)
    answer.delete_cookie(PENDING_COOKIE, path="/sign-in")
    return answer


def _back(request: Request, settings: Settings) -> str:
    base = settings.backoffice_url or str(request.base_url)
    return f"{base.rstrip('/')}/sign-in/oidc/back"


def _must_be_set(provider: Provider | None) -> Provider:
    if provider is None:
        raise Problem(404, "no_provider", "no identity provider is set", "Set DOCPROC_OIDC_ISSUER")
    return provider


def _unproven(request: Request, error: IdentityError) -> Response:
    log.warning("sign_in_unproven", address=address_of(request), problem=text_for_logs(error))
    return _page(request, "/", problem=_text(request, "sign_in_unproven"), status=403)


# --- answers --------------------------------------------------------------------------------------------


def must_be_on(settings: Settings) -> None:
    if settings.auth == "off":
        raise Problem(404, "no_sign_in", "authentication is off", "Say who you are with operator=name")


def safe_next(wanted: str) -> str:
    """A page of ours; what a link from elsewhere asks for leads nowhere else."""
    is_ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if is_ours and wanted.isprintable() and len(wanted) <= LONGEST_NEXT else "/"


def address_of(request: Request) -> str:
    return request.client.host if request.client else "unknown"


async def _end_old(request: Request, settings: Settings, door: Door) -> None:
    """Whoever signs in again leaves nothing behind that an old cookie could open."""
    token = sessions.token_of(request, settings)
    if token is not None:
        await door.forget(token)


def _welcome(request: Request, settings: Settings, session: Session, next_page: str) -> Response:
    answer: Response
    if gate.takes_html(request):
        answer = RedirectResponse(safe_next(next_page), 303)
    else:
        answer = JSONResponse({"operator": session.operator.username, "csrf": session.csrf})
    sessions.set_cookie(answer, request, settings, session.token)
    return answer


def _wrong(request: Request, said: dict[str, Any]) -> Response:
    if not gate.takes_html(request):
        raise Problem(401, "wrong_password", "name and password do not go together", "Check both")
    return _again(request, said, _text(request, "sign_in_wrong"), 401)


def _too_many(request: Request, said: dict[str, Any], seconds: int) -> Response:
    headers = {"Retry-After": str(seconds)}
    if not gate.takes_html(request):
        raise Problem(429, "too_many_attempts", "too many attempts", f"Wait {seconds} s", headers=headers)
    answer = _again(request, said, _text(request, "sign_in_wait", seconds=seconds), 429)
    answer.headers.update(headers)
    return answer


def _again(request: Request, said: dict[str, Any], problem: str, status: int) -> Response:
    name = str(said.get("name") or "")[:64]
    return _page(request, str(said.get("next") or "/"), name=name, problem=problem, status=status)


def _text(request: Request, key: str, **values: object) -> str:
    return texts.text(pages.language_of(request, None), key, **values)


def _page(
    request: Request,
    next_page: str,
    *,
    name: str = "",
    problem: str = "",
    notice: str = "",
    status: int = 200,
) -> Response:
    shown = {"next": safe_next(next_page), "name": name, "problem": problem, "notice": notice}
    has_provider = gate.provider(request) is not None
    return pages.page(request, "sign_in.html", None, status=status, has_provider=has_provider, **shown)
