"""What runs in every process that takes requests in, whatever the way they come: the way to the broker, the
relay, and the jobs of the gateway at hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.app import App
from docproc.engine.running.connecting import connect
from docproc.engine.running.leases import Heartbeat
from docproc.engine.store import workers
from docproc.errors import TransportError

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 5.0

Job = Callable[[], Awaitable[Any]]


@asynccontextmanager
async def taking_in(application: App, name: str, jobs: Sequence[Job]) -> AsyncIterator[None]:
    """Runs `jobs` and what publishes accepted requests, until the block ends.

    Requests are taken in while the broker is away: the relay publishes them later. `name` is how the process
    is called among the workers.
    """
    heartbeat = _heartbeat(application, name)
    if heartbeat is not None:
        await heartbeat.start()
    tasks = [
        asyncio.create_task(_kept_alive(job))
        for job in (lambda: connect(application.transport), application.relay.run, *jobs)
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if heartbeat is not None:
            await heartbeat.stop()
        with suppress(SQLAlchemyError, OSError, TransportError):  # else others find the rows by their age
            await application.relay.flush()
            await _leave(application, heartbeat)
        await application.transport.close()


def _heartbeat(application: App, name: str) -> Heartbeat | None:
    """With a broker, a sender vouches for its copies: if it dies before publishing, others must notice."""
    if not application.transport.has_broker:
        return None
    url, worker_id = application.settings.effective_database_url, application.worker_id
    return Heartbeat(url, worker_id, [name], lambda: application.transport.is_connected)


async def _leave(application: App, heartbeat: Heartbeat | None) -> None:
    if heartbeat is not None:
        async with application.store.claiming() as connection:
            await workers.leave(connection, application.worker_id)


async def _kept_alive(job: Job) -> None:
    """A job that fails is begun again: the gateway's other work does not depend on it."""
    while True:
        try:
            await job()
            return
        except Exception:  # the boundary of a job beside the gateway's own work
            log.exception("gateway_job_failed")
        await asyncio.sleep(_PAUSE_SECONDS)
