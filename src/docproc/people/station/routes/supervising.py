"""What all routes of supervisors share: who may come, how errors look to people, and how pages say things."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.routing import NoMatchFound

from docproc.engine.message import utc_now
from docproc.engine.store.task_tables import Operator
from docproc.errors import DocProcError, InvalidAnswerError
from docproc.http import problems
from docproc.people.sign_in import gate
from docproc.people.station import pages
from docproc.people.station.context import Supervisor
from docproc.people.station.telling import Telling, span

# The name of the route with a request's page, if an application has one: `{request_id}` in its path.
REQUEST_PAGE = "supervised_request"
TABS = (
    ("/supervisor", "sup_queue"),
    ("/supervisor/operators", "sup_operators"),
    ("/supervisor/quality", "sup_quality"),
    ("/supervisor/audit", "sup_audit"),
    ("/supervisor/keys", "sup_keys"),
)
# For administrators of the installation.
TENANTS_TAB = ("/supervisor/tenants", "sup_tenants")


async def _chief(request: Request, operator: Supervisor) -> Operator:
    request.state.operator = operator  # for the page that tells of an error
    return operator


Chief = Annotated[Operator, Depends(_chief)]


class SupervisorRoute(APIRoute):
    """Whoever looks at a page is told of a refusal on a page; programs get the usual JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_for_people(request: Request) -> Response:
            try:
                return await handle(request)
            except DocProcError as error:
                status = next((code for kind, code, _ in problems.KINDS if isinstance(error, kind)), None)
                if status is None or status >= 500 or not gate.takes_html(request):
                    raise
                if _is_nameless(request):
                    return pages.page(request, "who.html", None)
                return _refused(request, error, status)

        return handle_for_people


def _is_nameless(request: Request) -> bool:
    """Somebody came by a link that does not say who it is, as those of other servers do not."""
    is_open = request.app.state.desk.application.settings.auth == "off"
    return is_open and request.method == "GET" and not request.query_params.get("operator")


def _refused(request: Request, error: DocProcError, status: int) -> Response:
    details = error.problems if isinstance(error, InvalidAnswerError) else {}
    message = str(error.args[0]) if error.args else str(error)
    operator = getattr(request.state, "operator", None)
    return shown(
        request, "supervisor_problem.html", operator, status=status, message=message, details=details
    )


def shown(
    request: Request, template: str, operator: Operator | None, *, status: int = 200, **context: Any
) -> HTMLResponse:
    # With authentication on the session says who it is; off, every link does.
    who = "" if getattr(request.state, "csrf", "") or operator is None else operator.username
    telling = Telling.of(request, pages.language_of(request, operator))
    helpers = {
        "who": who,
        "link": partial(_link, who),
        "request_link": partial(_request_link, request, who),
        "tabs": _tabs(request, operator),
        "label": telling.label,
        "problem": telling.problem,
        "skill_name": telling.skill,
        "state_name": telling.state,
        "deed": telling.deed,
        "said": telling.said,
        "span": span,
        "now": utc_now(),
        "was_done": "done" in request.query_params,
    }
    return pages.page(request, template, operator, status=status, **{**helpers, **context})


def done(request: Request, operator: Operator, path: str) -> Response:
    """A form goes back to its page, which says so; a program reads that it is done."""
    if not gate.takes_html(request):
        return JSONResponse({"status": "done"})
    who = "" if getattr(request.state, "csrf", "") else operator.username
    return RedirectResponse(_link(who, path, done="1"), 303)


def _link(who: str, path: str, **query: Any) -> str:
    given = {name: value for name, value in query.items() if value not in (None, "")}
    asked = {**({"operator": who} if who else {}), **given}
    return f"{path}?{urlencode(asked)}" if asked else path


def _request_link(request: Request, who: str, request_id: UUID) -> str | None:
    """The address of its page; None where no application shows one."""
    try:
        return _link(who, str(request.app.url_path_for(REQUEST_PAGE, request_id=str(request_id))))
    except NoMatchFound:
        return None


def _tabs(request: Request, operator: Operator | None) -> list[tuple[str, str]]:
    """(address, key of its text): the applications' pages stand between people and what they did."""
    manifests = request.app.state.desk.application.applications.all
    links = [link for one in manifests for link in one.views.navigation if link.server == "backoffice"]
    added = [(link.href, link.text) for link in links if link.href.startswith("/supervisor/")]
    is_admin = bool(getattr(request.state, "csrf", "")) and operator is not None and operator.role == "admin"
    return [*TABS[:2], *added, *TABS[2:], *([TENANTS_TAB] if is_admin else [])]
