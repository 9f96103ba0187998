"""The back office's address before there is a back office: health, and a page that says what is to come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>DocProc: review station</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 15vh auto; padding: 0 1rem }
</style>
<h1>Review station</h1>
<p>This is where people will answer what DocProc is not sure of. It comes with a later release.</p>
<p lang="es">Aquí se resolverán las dudas de DocProc. Llegará en una próxima versión.</p>
"""


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are the business of whoever runs us


async def serve(stopping: asyncio.Event, *, host: str, port: int) -> None:
    """Until `stopping` is set."""
    config = uvicorn.Config(
        create_app(),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(), name="backoffice")
    stop = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait({serving, stop}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        server.should_exit = True
        await serving


def create_app() -> Starlette:
    return Starlette(routes=[Route("/", _page), Route("/health", _health)])


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _page(_request: Request) -> Response:
    return HTMLResponse(PAGE)
