"""A walk over every route of a server with somebody's credentials, and what it must not find there."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from fastapi import FastAPI
from fastapi.routing import APIRoute, APIWebSocketRoute
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from docproc.http.access.routes import all_routes
from docproc.http.access.scopes import Open, needed_by

# Of the framework's own; it tells what endpoints there are, and nothing of anybody.
PUBLIC = ("/openapi.json",)
REFUSED = (403, 404)
SOCKET_REFUSED = (4403, 4404)
SECONDS = 5.0
# How long a client listens on a socket that nobody closes.
LISTENING_SECONDS = 1.0


@dataclass(frozen=True)
class Walker:
    """`values` fill in what paths name, all of it somebody else's; `marks` stand in everything of theirs."""

    app: FastAPI
    values: Mapping[str, str]
    marks: Collection[str]
    headers: Mapping[str, str] = field(default_factory=dict)
    # Whether each route must say which scope it takes; the station has one for all.
    by_scope: bool = True

    async def findings(self) -> list[str]:
        """One line for everything that is wrong, `METHOD path: what`."""
        found: list[str] = []
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
            for path, route in all_routes(self.app):
                found += self._undeclared(path, route)
                async for told in self._visited(client, path, route):
                    found.append(told)
        return found

    def undocumented(self) -> list[str]:
        """Paths of the OpenAPI document that are no routes of the walk."""
        return sorted(set(self.app.openapi()["paths"]) - self.paths())

    def paths(self) -> set[str]:
        return {path for path, _ in all_routes(self.app)}

    def _undeclared(self, path: str, route: BaseRoute) -> Iterable[str]:
        if isinstance(route, Mount):
            if not isinstance(route.app, StaticFiles):
                yield f"MOUNT {path}: it is not behind the gate"
        elif isinstance(route, APIRoute | APIWebSocketRoute):
            if self.by_scope and needed_by(route.endpoint) is None:
                yield f"ANY {path}: it does not say which scope it takes"
        elif path not in PUBLIC:
            yield f"ANY {path}: it is not behind the gate"

    async def _visited(self, client: httpx.AsyncClient, template: str, route: BaseRoute) -> Any:
        if isinstance(route, Mount) or isinstance(needed_by(getattr(route, "endpoint", None)), Open):
            return
        named = getattr(route, "param_convertors", {})
        if lacking := sorted(set(named) - set(self.values)):
            yield f"ANY {template}: the test does not know what to fill in for {', '.join(lacking)}"
            return
        path = template.format(**{name: self.values[name] for name in named})
        if isinstance(route, APIWebSocketRoute):
            if told := self._judged_socket(await self._connect(path), named):
                yield f"WS {template}: {told}"
        elif isinstance(route, Route | APIRoute):
            for method in sorted((route.methods or set()) - {"HEAD", "OPTIONS"}):
                if told := self._judged(await self._call(client, method, path), named):
                    yield f"{method} {template}: {told}"

    async def _call(self, client: httpx.AsyncClient, method: str, path: str) -> httpx.Response:
        body: dict[str, Any] = {"json": {}} if method in ("POST", "PUT", "PATCH") else {}
        async with asyncio.timeout(SECONDS):
            return await client.request(method, path, headers=self.headers, **body)

    def _judged(self, answer: httpx.Response, named: Collection[str]) -> str:
        if leaked := self._leaks(answer.text, named):
            return f"{answer.status_code} tells {leaked}"
        if answer.status_code >= 500:
            return f"{answer.status_code}"
        return f"{answer.status_code}, not 403 or 404" if named and answer.status_code not in REFUSED else ""

    def _judged_socket(self, said: tuple[int, list[str]], named: Collection[str]) -> str:
        code, texts = said
        if leaked := self._leaks("\n".join(texts), named):
            return f"{code} tells {leaked}"
        return f"{code}, not 4403 or 4404" if named and (code not in SOCKET_REFUSED or texts) else ""

    def _leaks(self, text: str, named: Collection[str]) -> str:
        """What whoever asked did not know; an id from the address may be repeated."""
        for name in named:
            text = text.replace(self.values[name], "")
        return ", ".join(mark for mark in self.marks if mark in text)

    async def _connect(self, path: str) -> tuple[int, list[str]]:
        """The closing code of a WebSocket, and what was sent over it before."""
        return await connect(self.app, path, self.headers)


async def connect(
    app: FastAPI, path: str, headers: Mapping[str, str], protocols: Collection[str] = ()
) -> tuple[int, list[str]]:
    incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    incoming.put_nowait({"type": "websocket.connect"})
    code, texts = 0, []

    async def send(message: Any) -> None:
        nonlocal code
        if message["type"] == "websocket.send":
            texts.append(str(message.get("text") or ""))
        elif message["type"] == "websocket.close":
            code = message["code"]
            incoming.put_nowait({"type": "websocket.disconnect", "code": code})

    raw = [(name.lower().encode(), value.encode()) for name, value in {"host": "docproc", **headers}.items()]
    plain, _, query = path.partition("?")
    scope = {
        "type": "websocket", "path": plain, "raw_path": plain.encode(), "query_string": query.encode(),
        "headers": raw, "scheme": "ws", "subprotocols": list(protocols), "client": ("192.0.2.1", 1),
        "server": ("docproc", 80), "root_path": "", "asgi": {"version": "3.0"},
    }  # fmt: skip
    async with asyncio.timeout(SECONDS):
        serving = asyncio.create_task(app(scope, incoming.get, send))
        await asyncio.wait({serving}, timeout=LISTENING_SECONDS)
        if not serving.done():  # one that stays open: the client leaves
            incoming.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await serving
    return code, texts
