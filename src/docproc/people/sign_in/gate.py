"""The gate before every route: with authentication on, whoever comes has a session, and says its token."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from docproc.app import App
from docproc.http import problems
from docproc.http.access.door import Door as Access
from docproc.http.access.door import credential
from docproc.http.access.scopes import Open, needed_by
from docproc.people.sign_in import csrf, owners, programs, sessions, tenancy
from docproc.people.sign_in.door import Door
from docproc.people.sign_in.oidc import Provider, provider_of
from docproc.people.store.sign_ins import Found


class NotSignedIn(problems.Problem):
    """A page goes to the sign-in page, a program reads 401."""

    def __init__(self) -> None:
        super().__init__(401, "not_signed_in", "nobody is signed in", "Sign in at /sign-in")


def register(app: FastAPI) -> None:
    """After the desk. Raises ConfigurationError where an identity provider is set incompletely."""
    application = _application_of(app)
    app.state.door = Door(application.store, application.settings, app.state.desk.kinds.skills)
    app.state.provider = provider_of(application.settings)
    app.state.access = Access(application)
    app.add_exception_handler(NotSignedIn, _to_sign_in)


def _application_of(app: FastAPI) -> App:
    application: App = app.state.desk.application
    return application


def door_of(request: Request) -> Door:
    door: Door = request.app.state.door
    return door


def provider(request: Request) -> Provider | None:
    found: Provider | None = request.app.state.provider
    return found


async def guarded(request: Request) -> None:
    """A dependency of the whole station: only what says that it is open to all is.

    Raises NotSignedIn, Problem 403 or 429, UnknownTaskError or UnknownRequestError.
    """
    is_open = isinstance(needed_by(request.scope.get("endpoint")), Open)
    if _application_of(request.app).settings.auth == "on" and not is_open:
        operator = (await signed_in(request)).operator
        await owners.check(request, _application_of(request.app).store, operator.tenant_id)


async def signed_in(request: Request) -> Found:
    """The session of a request, looked up once. Raises NotSignedIn, or Problem 403 without its token."""
    known: Found | None = getattr(request.state, "signed_in", None)
    if known is not None:
        return known
    application = _application_of(request.app)
    if credential(request) is not None:  # no cookie speaks for a program, so no page can make it act
        found = await programs.signed_in(request, request.app.state.access, application.store)
    else:
        session = await sessions.current(request, application.store, application.settings)
        if session is None:
            raise NotSignedIn
        await csrf.check(request, session.csrf)
        found = await tenancy.as_chosen(request, application, session)
    request.state.signed_in, request.state.csrf = found, found.csrf
    return found


async def _to_sign_in(request: Request, error: Exception) -> Response:
    assert isinstance(error, NotSignedIn)
    if not is_page(request):
        return problems.answer(error.status_code, error.code, error.detail, error.remedy)
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/sign-in?next={quote(wanted, safe='')}", 303)


def is_page(request: Request) -> bool:
    """Whether a person looks at a whole page; what scripts ask for must not turn into another page."""
    mode = request.headers.get("sec-fetch-mode")
    if mode is None:  # an old browser, or no https: only whole pages are asked for like this
        return request.method == "GET" and "application/xhtml+xml" in request.headers.get("accept", "")
    return request.method == "GET" and mode == "navigate"


def takes_html(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")
