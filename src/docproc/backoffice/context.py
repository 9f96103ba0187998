"""What every route of the review station works with: the desk, and who is asking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Request

from docproc.app import App
from docproc.backoffice.desk.desk import Desk
from docproc.errors import InvalidAnswerError, NotAllowedError
from docproc.store.tables import Operator

LONGEST_NAME = 64


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
        except ValueError:
            raise InvalidAnswerError("the body is not JSON", remedy="Send an object") from None
        if not isinstance(body, dict):
            raise InvalidAnswerError("the body is not a JSON object", remedy="Send an object")
        return body
    form = await request.form()
    return {name: value for name, value in form.items() if isinstance(value, str)}


Said = Annotated[dict[str, Any], Depends(said)]


async def who_of(request: Request, desk: Desk, said: Mapping[str, Any]) -> Operator:
    """Who is asking. With authentication off: whom the client names; a new name is made at first use."""
    name = said.get("operator") or request.query_params.get("operator")
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise NotAllowedError("nobody said who is asking", remedy="Send operator=name")
    return await desk.operator(name.strip(), create=True)


async def _who_acts(request: Request, desk: DeskOf, body: Said) -> Operator:
    return await who_of(request, desk, body)


async def _who_looks(request: Request, desk: DeskOf) -> Operator:
    return await who_of(request, desk, {})


# The person of a request that changes something, and of one that only looks.
Actor = Annotated[Operator, Depends(_who_acts)]
Viewer = Annotated[Operator, Depends(_who_looks)]
