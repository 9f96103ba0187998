"""The HTTP application: its endpoints, and what runs beside them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from sqlalchemy.exc import SQLAlchemyError

from docproc import __version__
from docproc.app import App
from docproc.application import load
from docproc.http import docs, flows, problems, requests, streams, submitting
from docproc.http.access import gate
from docproc.http.access.document import openapi
from docproc.http.access.scopes import open_to_all
from docproc.http.bodies import BodyLimits, check_announced
from docproc.http.callbacks.secret import check_settings
from docproc.http.callbacks.sender import send_answers
from docproc.http.context import Application
from docproc.http.following import Hub
from docproc.http.gateway import taking_in
from docproc.http.guard import Guard
from docproc.http.models import Health
from docproc.http.orphans import sweep_orphans, sweep_scratch
from docproc.http.problems import Problem, documented
from docproc.http.reception import reception_of
from docproc.http.views import shapes_of

router = APIRouter(tags=["health"])

SWEEP_SECONDS = 3600.0
READY_SECONDS = 2.0

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
        docs_url=None,  # they load scripts from elsewhere; ours (http/docs.py) does not
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        generate_unique_id_function=_operation_id,
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
        flows.router,
        docs.router,
    ):
        app.include_router(found)
    for path in (path for one in application.applications.all for path in one.routers):
        app.include_router(load(path))
    app.include_router(router)
    return app


def _operation_id(route: APIRoute) -> str:
    """What generated clients call an operation: `post_process`, `get_status_by_request_id`."""
    parts = [
        re.sub(r"\W+", "_", part.replace("{", "by_")).strip("_") for part in route.path_format.split("/")
    ]
    return "_".join([min(route.methods or {"GET"}).lower(), *filter(None, parts)])


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
    """Beside the endpoints: publishing what came in, answers, and the sweep."""
    application: App = app.state.application
    jobs = (
        lambda: send_answers(application.settings, application.store, application.worker_id),
        lambda: _sweep_now_and_then(application),
        *app.state.jobs,
    )
    async with taking_in(application, "api_gateway", jobs):
        try:
            yield
        finally:
            await app.state.hub.close()


async def _sweep_now_and_then(application: App) -> None:
    while True:
        await sweep_orphans(application.store, application.blobs)
        await sweep_scratch(application.blobs)
        await asyncio.sleep(SWEEP_SECONDS)
