"""The review station: its routes, and what runs beside them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import structlog
from fastapi import APIRouter, Depends, FastAPI
from sqlalchemy.exc import SQLAlchemyError

from docproc import __version__
from docproc.app import App
from docproc.engine.running.connecting import connect
from docproc.engine.running.serving import serve_until
from docproc.errors import DocProcError, UnknownTaskError
from docproc.http import problems
from docproc.http.access.scopes import open_to_all
from docproc.http.bodies import BodyLimits, check_announced
from docproc.http.exposure import check_station, is_unencrypted
from docproc.http.guard import Guard
from docproc.http.server import bind, facing_the_network
from docproc.people.assignment import Assignment
from docproc.people.desk import Desk
from docproc.people.notices import Notices
from docproc.people.sign_in import gate
from docproc.people.station.routes import (
    account,
    queue,
    sign_in,
    supervisor,
    tasks,
    tenancy,
    work,
)

log = structlog.get_logger(__name__)
router = APIRouter(tags=["health"])

_PAUSE_SECONDS = 1.0


def create_app(application: App) -> FastAPI:
    """On an application whose database is prepared. Its lifespan connects to the broker itself.

    The pages' frame is the console's to add (`docproc.console.servers`).
    """
    app = FastAPI(
        title="DocProc review station",
        version=__version__,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan,
        dependencies=[Depends(check_announced), Depends(gate.guarded)],
    )
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign] # as FastAPI's own guide has it
    app.state.desk = Desk(application)
    app.state.assignment = Assignment(application)
    app.state.desk.wake = app.state.assignment.wake
    app.add_middleware(BodyLimits)
    app.add_middleware(Guard)
    problems.register(app)
    gate.register(app)
    app.add_exception_handler(UnknownTaskError, work.tell_no_task)
    for module in (tasks, queue, work, supervisor, tenancy, account, sign_in):
        app.include_router(module.router)
    app.include_router(router)
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """What may be sent as an answer depends on the applications that are loaded."""
    schema = FastAPI.openapi(app)
    parts = {name: kind for one in app.state.desk.kinds for name, kind in one.takes().items()}
    schema["paths"]["/tasks/{task_id}/submit"]["post"].update(tasks.takes(**parts))
    return schema


@router.get("/health", summary="Whether the server lives")
@open_to_all
async def health() -> dict[str, str]:
    return {"status": "ok"}


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    application: App = app.state.desk.application
    assignment: Assignment = app.state.assignment
    notices = Notices(application, assignment.wake)
    # Answers are taken while the broker is away: the relay publishes what follows from them later.
    connecting = connect(application.transport, longest_pause_seconds=_PAUSE_SECONDS)
    running = (connecting, application.relay.run(), assignment.run(), notices.run())
    jobs = [asyncio.create_task(job) for job in running]
    try:
        yield
    finally:
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        # Else the rows are found, and the duty ends, by age.
        with contextlib.suppress(SQLAlchemyError, OSError, DocProcError):
            await assignment.leave()
            await application.relay.flush()
        await application.transport.close()


async def serve(
    application: App,
    stopping: asyncio.Event,
    *,
    host: str,
    port: int,
    create: Callable[[App], FastAPI],
) -> None:
    """What `create` makes, until `stopping` is set.

    Raises ConfigurationError when the port is taken, or open to strangers.
    """
    check_station(application.settings, host)
    if is_unencrypted(application.settings, host):
        log.warning("sign_in_unencrypted", remedy="Put a proxy with https before it: DOCPROC_BACKOFFICE_URL")
    app = create(application)
    config = facing_the_network(app, application.settings, host, timeout_graceful_shutdown=1)
    with contextlib.closing(bind(host, port)) as listening:
        await serve_until(stopping, config, listening, name="backoffice")
