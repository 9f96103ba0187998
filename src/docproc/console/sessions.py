"""People on the API's server: who signed in at the review station may look at its pages, too.

Browsers keep cookies by host, whatever the port, so the session's cookie comes along where both servers are
reached by one name.
"""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.requests import HTTPConnection

from docproc.app import App
from docproc.engine.store.tenants import DEFAULT
from docproc.http import problems
from docproc.http.access.caller import Caller
from docproc.http.access.door import Way
from docproc.http.access.scopes import Scope
from docproc.http.addresses import API, BACKOFFICE, Addresses
from docproc.http.pages import Visitor
from docproc.http.problems import Problem
from docproc.people.sign_in import csrf, gate, sessions, tenancy
from docproc.people.store import claims
from docproc.people.store.sign_ins import Found

# What supervisors may do at the station, too; operators see their tasks there and nothing else.
SCOPES = {
    "operator": frozenset[Scope](),
    "supervisor": frozenset({Scope.SUBMIT, Scope.READ}),
    "admin": frozenset({Scope.SUBMIT, Scope.READ, Scope.ADMIN}),
}
_READING = ("GET", "HEAD", "OPTIONS")


def register(app: FastAPI, application: App) -> None:
    """Let sessions in, and lead people who are not signed in to the way to do so."""
    app.state.access.ways.append(way_of(application))
    addresses = Addresses(application.settings, API)

    async def refused(request: Any, error: Exception) -> Any:
        assert isinstance(error, Problem)
        return _to_station(request, error, addresses) or await problems.tell(request, error)

    app.add_exception_handler(Problem, refused)


def _to_station(request: HTTPConnection, error: Problem, addresses: Addresses) -> Response | None:
    """For a page that a person looks at; None where it is told as ever."""
    if not isinstance(request, Request) or error.code not in ("no_key", "scope_missing"):
        return None
    station = addresses.of(BACKOFFICE, request) if gate.is_page(request) else None
    if station is None:
        return None
    return RedirectResponse(f"{station}/sign-in" if error.code == "no_key" else f"{station}/", 303)


def way_of(application: App) -> Way:
    async def way(connection: HTTPConnection) -> Caller | None:
        request = _as_request(connection)
        found = await sessions.current(request, application.store, application.settings)
        if found is None:
            return None
        _check_token(request, found)
        operator = (await tenancy.as_chosen(connection, application, found)).operator
        connection.state.csrf = found.csrf
        connection.state.visitor = Visitor(
            name=operator.display_name or operator.username,
            roles=claims.roles_up_to(operator.role),
            language=operator.language,
            tenant=operator.tenant_id if operator.tenant_id != DEFAULT else "",
        )
        return Caller(operator.tenant_id, SCOPES[operator.role], "person", operator.username)

    return way


def _as_request(connection: HTTPConnection) -> Request:
    """A WebSocket begins as a request that reads."""
    if connection.scope["type"] == "http":
        return Request(connection.scope)
    scheme = "https" if connection.scope.get("scheme") == "wss" else "http"
    return Request({**connection.scope, "type": "http", "method": "GET", "scheme": scheme})


def _check_token(request: Request, found: Found) -> None:
    """Only in a header: files are not read for its sake."""
    said = request.headers.get(csrf.HEADER, "")
    if request.method not in _READING and not secrets.compare_digest(said.encode(), found.csrf.encode()):
        told = "the request does not carry its session's token"
        raise Problem(403, "csrf", told, f"Send it as {csrf.HEADER}, or reload the page")
