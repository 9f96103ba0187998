"""The HTTP application: its endpoints, and what runs beside them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import structlog
from fastapi import APIRouter, Depends, FastAPI
from sqlalchemy.exc import SQLAlchemyError

from docproc import __version__
from docproc.app import App
from docproc.application import load
from docproc.engine.running.connecting import connect
from docproc.engine.running.leases import Heartbeat
from docproc.engine.store import workers
from docproc.errors import TransportError
from docproc.http import problems, requests, streams, submitting
from docproc.http.access import gate
from docproc.http.access.document import openapi
from docproc.http.access.scopes import open_to_all
from docproc.http.bodies import BodyLimits, check_announced
from docproc.http.callbacks.secret import check_settings
from docproc.http.callbacks.sender import send_answers
from docproc.http.context import Application
from docproc.http.following import Hub
from docproc.http.guard import Guard
from docproc.http.models import Health
from docproc.http.orphans import sweep_orphans, sweep_scratch
from docproc.http.problems import Problem, documented
from docproc.http.reception import reception_of
from docproc.http.views import shapes_of

log = structlog.get_logger(__name__)
router = APIRouter(tags=["health"])

SWEEP_SECONDS = 3600.0
READY_SECONDS = 2.0
_PAUSE_SECONDS = 5.0

DESCRIPTION = "Send files, follow them, fetch the answers. Errors are `{error: {code, message, remedy}}`."


def create_app(application: App) -> FastAPI:
    """The API on an application whose database is prepared. Its lifespan connects to the broker itself.

    Raises ConfigurationError.
    """
    check_settings(application.settings)
    reception_of(application)  # a storage that must not be used is told now, not with the first file
    app = FastAPI(
        title="DocProc",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        dependencies=[Depends(check_announced), Depends(gate.guarded)],
    )
    app.state.application = application
    gate.register(app, application)
    app.openapi = partial(openapi, app)  # type: ignore[method-assign] # as FastAPI's own guide has it
    app.state.hub = Hub(application)
    # What parts above this one have run beside the endpoints; each is begun again when it fails.
    app.state.jobs = []
    app.add_middleware(BodyLimits)
    app.add_middleware(Guard)
    problems.register(app)
    for found in (
        requests.routes(shapes_of(application)),
        requests.router,
        submitting.router,
        streams.router,
    ):
        app.include_router(found)
    for path in (path for one in application.applications.all for path in one.routers):
        app.include_router(load(path))
    app.include_router(router)
    return app


@router.get("/health", summary="Whether the server lives", response_model=Health)
@open_to_all
async def health() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/ready", summary="Whether it takes requests", response_model=Health, responses=documented(503))
@open_to_all
async def ready(application: Application) -> dict[str, str]:
    try:
        async with asyncio.timeout(READY_SECONDS):
            problem = await application.store.problem() or await application.blobs.problem()
    except (TimeoutError, SQLAlchemyError, OSError) as error:
        raise _unavailable("the database is out of reach") from error
    if problem := problem or await application.applications.problem(application):
        raise _unavailable(problem)
    return {"status": "ready"}


def _unavailable(problem: str) -> Problem:
    return Problem(503, "unavailable", problem, headers={"Retry-After": str(problems.RETRY_SECONDS)})


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Beside the endpoints: the way to the broker, publishing what it missed, answers, and the sweep.

    Requests are taken in while the broker is away: the relay publishes them later.
    """
    application: App = app.state.application
    heartbeat = _heartbeat(application)
    if heartbeat is not None:
        await heartbeat.start()
    jobs: tuple[Callable[[], Awaitable[None]], ...] = (
        lambda: connect(application.transport),
        application.relay.run,
        lambda: send_answers(application.settings, application.store, application.worker_id),
        lambda: _sweep_now_and_then(application),
        *app.state.jobs,
    )
    tasks = [asyncio.create_task(_kept_alive(job)) for job in jobs]
    try:
        yield
    finally:
        await app.state.hub.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if heartbeat is not None:
            await heartbeat.stop()
        with suppress(SQLAlchemyError, OSError, TransportError):  # else others find the rows by their age
            await application.relay.flush()
            await _leave(application, heartbeat)
        await application.transport.close()


def _heartbeat(application: App) -> Heartbeat | None:
    """With a broker, a sender vouches for its copies: if it dies before publishing, others must notice."""
    if not application.transport.has_broker:
        return None
    url, name = application.settings.effective_database_url, application.worker_id
    return Heartbeat(url, name, ["api_gateway"], lambda: application.transport.is_connected)


async def _leave(application: App, heartbeat: Heartbeat | None) -> None:
    if heartbeat is not None:
        async with application.store.claiming() as connection:
            await workers.leave(connection, application.worker_id)


async def _sweep_now_and_then(application: App) -> None:
    while True:
        await sweep_orphans(application.store, application.blobs)
        await sweep_scratch(application.blobs)
        await asyncio.sleep(SWEEP_SECONDS)


async def _kept_alive(job: Callable[[], Awaitable[Any]]) -> None:
    """A job that fails is begun again: the endpoints do not depend on it."""
    while True:
        try:
            await job()
            return
        except Exception:  # the boundary of a job beside the endpoints
            log.exception("gateway_job_failed")
        await asyncio.sleep(_PAUSE_SECONDS)
