"""What every route of the review station works with: the desk, and who is asking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Request

from docproc.app import App
from docproc.engine.store.task_tables import Operator
from docproc.errors import InvalidAnswerError, NotAllowedError
from docproc.people.desk import Desk
from docproc.people.sign_in import gate
from docproc.people.sign_in.door import is_name
from docproc.people.store import claims

READING = ("GET", "HEAD", "OPTIONS")


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def _application(request: Request) -> App:
    return _desk(request).application


DeskOf = Annotated[Desk, Depends(_desk)]
Application = Annotated[App, Depends(_application)]
TaskId = Annotated[UUID, Path(description="The task's id")]


async def said(request: Request) -> dict[str, Any]:
    """The body, as a form or as JSON: whatever a page or a program sends."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind == "application/json":
        try:
            body = await request.json()
        except ValueError:  # how deep it may be was looked at before
            raise InvalidAnswerError("the body is not JSON", remedy="Send an object") from None
        if not isinstance(body, dict):
            raise InvalidAnswerError("the body is not a JSON object", remedy="Send an object")
        return body
    form = await request.form()
    return {name: value for name, value in form.items() if isinstance(value, str)}


Said = Annotated[dict[str, Any], Depends(said)]


async def who_of(request: Request, desk: Desk, said: Mapping[str, Any]) -> Operator:
    """Who is asking. With authentication off: whom the client names; a new name is made when it first does
    something. Looking makes nobody: any page can have a browser look.

    With it on: who is signed in. Looking on, `operator` in the address means nothing; to change something
    in another's name is refused, so that a tab of yesterday's operator acts for nobody else.
    """
    name = said.get("operator") or request.query_params.get("operator")
    if desk.application.settings.auth == "on":
        operator = (await gate.signed_in(request)).operator
        if said.get("operator") and name != operator.username:
            raise NotAllowedError(f"you are signed in as {operator.username}", remedy="Reload the page")
        return operator
    if not isinstance(name, str) or not is_name(name.strip()):
        raise NotAllowedError("nobody said who is asking", remedy="Send operator=name")
    if request.method in READING:
        return await desk.looker(name.strip())
    return await desk.operator(name.strip(), create=True)


async def _who_acts(request: Request, desk: DeskOf, body: Said) -> Operator:
    return await who_of(request, desk, body)


async def _who_looks(request: Request, desk: DeskOf) -> Operator:
    return await who_of(request, desk, {})


# The person of a request that changes something, and of one that only looks.
Actor = Annotated[Operator, Depends(_who_acts)]
Viewer = Annotated[Operator, Depends(_who_looks)]


async def _supervises(desk: DeskOf, operator: Actor) -> Operator:
    return _with_role("supervisor", desk, operator)


async def _administers(desk: DeskOf, operator: Actor) -> Operator:
    return _with_role("admin", desk, operator)


def _with_role(role: str, desk: Desk, operator: Operator) -> Operator:
    """With authentication off there are no roles: whoever sits at this machine may do all of it."""
    if desk.application.settings.auth == "on" and role not in claims.roles_up_to(operator.role):
        raise NotAllowedError(f"this takes the role {role}", remedy="Ask an administrator for it")
    return operator


# The same for pages and actions that take a role, whether they look or change.
Supervisor = Annotated[Operator, Depends(_supervises)]
Admin = Annotated[Operator, Depends(_administers)]
