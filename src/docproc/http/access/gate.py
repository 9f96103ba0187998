"""The gate before every route of the API: who asks, whether they may, and whether what they name is theirs.

It is a dependency of the whole server, so no route can forget it. A route that does not say which scope it
takes (`scopes.needs`) is refused while authentication is on, and one whose path names a request
(`{request_id}`) is asked for requests of the caller's tenant only.
"""

from __future__ import annotations

from collections import OrderedDict
from uuid import UUID

from fastapi import FastAPI
from sqlalchemy import select
from starlette.requests import HTTPConnection

from docproc.app import App
from docproc.engine.store.tables import Request
from docproc.errors import UnknownRequestError
from docproc.http.access.caller import Caller
from docproc.http.access.door import Door
from docproc.http.access.scopes import Open, needed_by
from docproc.http.problems import Problem

# A request never changes hands, so whose it is can be remembered.
MOST_KEPT = 10_000
_TENANT_HEADER, _TENANT_FIELD = "x-tenant-id", "tenant_id"


class Owners:
    """Whose requests are, in one process."""

    def __init__(self, application: App) -> None:
        self._application = application
        self._known: OrderedDict[UUID, str] = OrderedDict()

    async def of(self, request_id: UUID) -> str | None:
        """The tenant; None: there is no such request."""
        if request_id in self._known:
            return self._known[request_id]
        async with self._application.store.reading() as session:
            found = await session.scalar(select(Request.tenant_id).where(Request.id == request_id))
        if found is not None:
            self._known[request_id] = found
            while len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)
        return found


def register(app: FastAPI, application: App) -> None:
    """Raises ConfigurationError."""
    app.state.access = Door(application)
    app.state.owners = Owners(application)


def door_of(connection: HTTPConnection) -> Door:
    door: Door = connection.app.state.access
    return door


async def guarded(connection: HTTPConnection) -> None:
    """A dependency of every route. Raises Problem 401, 403 or 429, or UnknownRequestError."""
    wanted = needed_by(connection.scope.get("endpoint"))
    if isinstance(wanted, Open):
        return
    door = door_of(connection)
    caller = await door.caller(connection)
    if wanted is not None:
        await door.check_scope(connection, caller, wanted)
    elif door.is_on:
        raise Problem(403, "no_scope", "this route does not say who may use it", "Mark it: scopes.needs")
    check_tenant(caller, connection.headers.get(_TENANT_HEADER))
    check_tenant(caller, connection.query_params.get(_TENANT_FIELD))
    await _check_owner(connection, caller)
    connection.state.caller = caller


def check_tenant(caller: Caller, said: object) -> None:
    """A client may name its tenant, but no other. Raises Problem 403."""
    if said not in (None, "", caller.tenant_id):
        raise Problem(
            403, "wrong_tenant", "that is not your tenant", "Leave it out: your key says whose it is"
        )


async def _check_owner(connection: HTTPConnection, caller: Caller) -> None:
    """What is another's is not there at all: nobody learns which ids exist."""
    said = connection.path_params.get("request_id")
    try:
        request_id = UUID(str(said)) if said is not None else None
    except ValueError:  # the endpoint says what is wrong with it
        return
    owners: Owners = connection.app.state.owners
    if request_id is not None and await owners.of(request_id) != caller.tenant_id:
        raise UnknownRequestError(f"there is no request {request_id}", remedy="Check the id")
