"""One's own account: the password, changed by whoever knows the old one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from docproc.engine.store.task_tables import Operator
from docproc.errors import UsageError
from docproc.http.problems import Problem
from docproc.people import texts
from docproc.people.sign_in import gate, sessions
from docproc.people.sign_in.door import Door
from docproc.people.sign_in.limits import TooManyAttempts
from docproc.people.sign_in.passwords import LONGEST, SHORTEST
from docproc.people.sign_in.sessions import Session
from docproc.people.station import pages
from docproc.people.station.context import Actor, Application, Said, Viewer
from docproc.people.station.routes.sign_in import address_of, must_be_on

router = APIRouter(prefix="/account", tags=["sign-in"])

DoorOf = Annotated[Door, Depends(gate.door_of)]
LENGTHS = {"shortest": SHORTEST, "longest": LONGEST}


class Refusal(Exception):
    """Why a password was not changed: a text's key and its values, and the status that goes with it."""

    def __init__(self, status: int, key: str, **values: object) -> None:
        super().__init__(key)
        self.status, self.key, self.values = status, key, values


@router.get("/password", summary="The page to change one's password on", response_class=Response)
async def show(request: Request, application: Application, operator: Viewer) -> Response:
    must_be_on(application.settings)
    return pages.page(request, "password.html", operator, problem="", notice="", **LENGTHS)


@router.post("/password", summary="Change one's password", response_class=Response)
async def change(
    request: Request, application: Application, door: DoorOf, operator: Actor, said: Said
) -> Response:
    """With `old`, `new` and `again`. All other sessions of the person end; a program gets the new token."""
    must_be_on(application.settings)
    try:
        session = await _changed(door, operator, said, address_of(request))
    except Refusal as refusal:
        return _refused(request, operator, refusal)
    request.state.csrf = session.csrf  # of the new session, for the page's forms
    answer: Response = JSONResponse({"operator": operator.username, "csrf": session.csrf})
    if gate.takes_html(request):
        notice = _text(request, operator, "password_saved")
        answer = pages.page(request, "password.html", operator, problem="", notice=notice, **LENGTHS)
    sessions.set_cookie(answer, request, application.settings, session.token)
    return answer


async def _changed(door: Door, operator: Operator, said: dict[str, Any], address: str) -> Session:
    old, new, again = (str(said.get(name) or "") for name in ("old", "new", "again"))
    if new != again:
        raise Refusal(422, "password_differs")
    try:
        session = await door.change_password(operator, old, new, address)
    except TooManyAttempts as error:
        raise Refusal(429, "sign_in_wait", seconds=error.seconds) from error
    except UsageError as error:
        raise Refusal(422, "password_length", **LENGTHS) from error
    if session is None:
        raise Refusal(403, "password_wrong")
    return session


def _refused(request: Request, operator: Operator, refusal: Refusal) -> Response:
    headers = {"Retry-After": str(refusal.values["seconds"])} if refusal.status == 429 else {}
    if not gate.takes_html(request):
        text = texts.text("en", refusal.key, **refusal.values)
        raise Problem(refusal.status, refusal.key, text, headers=headers)
    problem = _text(request, operator, refusal.key, **refusal.values)
    shown: dict[str, Any] = {"problem": problem, "notice": "", **LENGTHS}
    answer = pages.page(request, "password.html", operator, status=refusal.status, **shown)
    answer.headers.update(headers)
    return answer


def _text(request: Request, operator: Operator, key: str, **values: object) -> str:
    return texts.text(pages.language_of(request, operator), key, **values)
