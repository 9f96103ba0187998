"""Servers as ASGI applications, for whoever brings the server: `uvicorn docproc.asgi:app --reload`.

`python -m docproc` with DOCPROC_COMPONENT_NAME=api_gateway serves the same with a health port beside it, and
is what containers run. Importing this module reads no setting: everything is read when the server starts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docproc import logs
from docproc.app import App
from docproc.console.servers import gateway, station
from docproc.errors import ConfigurationError, DocProcError
from docproc.http import problems
from docproc.http.exposure import check_api, check_station
from docproc.http.guard import HEADERS
from docproc.http.hosts import KnownHosts
from docproc.settings import Settings

Create = Callable[[App], FastAPI]
Check = Callable[[Settings, str], None]


class AsgiServer:
    """Made when the server starts: settings, database, then the application; closed when it stops.

    A server's address is not known before the first call, so each is held against the rule that `python -m
    docproc` checks at the start: what asks nobody who they are answers on loopback only."""

    def __init__(self, name: str, create: Create, check: Check) -> None:
        self._name = name
        self._create = create
        self._check = check
        self._settings: Settings | None = None
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._live(scope, receive, send)
        if self._app is None or self._settings is None:
            raise RuntimeError(
                f"docproc.asgi:{self._name} was not started; let the server run its lifespan "
                "(uvicorn --lifespan on)"
            )
        # A server on a Unix socket has no port, and only this machine reaches it.
        host, port = scope.get("server") or ("", None)
        try:
            if port is not None:
                self._check(self._settings, host)
        except ConfigurationError as error:
            refusal = problems.answer(403, "open_server", str(error.args[0]), error.remedy, headers=HEADERS)
            return await refusal(scope, receive, send)
        await self._app(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Around the lifespan of what is made: the database is ready before it, and closed after it."""
        waiting = [await receive()]  # "lifespan.startup", which the application will ask for, too

        async def receive_again() -> Message:
            return waiting.pop() if waiting else await receive()

        async with AsyncExitStack() as ending:
            try:
                self._app = await self._start(ending)
            except DocProcError as error:
                return await send({"type": "lifespan.startup.failed", "message": str(error)})
            try:
                await self._app(scope, receive_again, send)
            finally:
                self._app = None

    async def _start(self, ending: AsyncExitStack) -> ASGIApp:
        self._settings = Settings.load()
        logs.configure(self._settings, component=self._name)
        application = App(self._settings)
        ending.push_async_callback(application.close)
        await application.prepare()
        return KnownHosts.on(self._create(application), self._settings, self._settings.host)


# The API with its console, and the review station.
app = AsgiServer("api_gateway", gateway, check_api)
backoffice = AsgiServer("backoffice", station, check_station)
