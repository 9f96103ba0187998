"""`docproc worker`: run components, in this process or under a supervisor."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import structlog
import typer

from docproc import logs
from docproc.app import App
from docproc.cli.serve import SERVICES
from docproc.engine.running.health import HealthServer
from docproc.engine.running.measuring import MayMeasure
from docproc.engine.running.supervisor import Supervisor
from docproc.engine.running.worker import unless_stopped
from docproc.errors import ConfigurationError, DocProcError
from docproc.settings import Settings
from docproc.terminal.output import run_async
from docproc.terminal.signals import stop_on_signals, stop_with_parent

log = structlog.get_logger(__name__)


def worker(
    components: list[str] = typer.Argument(None, help="Component names; all of them by default"),
    processes: int = typer.Option(
        None, min=1, help="Worker processes (default DOCPROC_PROCESSES, the cores)"
    ),
    child: bool = typer.Option(False, "--child", hidden=True, help="Started by a supervisor"),
) -> None:
    """Run components until Ctrl-C or SIGTERM; dead workers are restarted."""
    settings = Settings.load()
    if child and components and components[0] in SERVICES:
        logs.configure(settings, component=components[0])
        sys.exit(run_async(_service(settings, components[0])))
    logs.configure(settings, component="worker")
    names = components or sorted(App(settings).registry.paths)
    for name in names:
        App(settings).registry.load(name)
    if child:
        sys.exit(run_async(serve(settings, names, health=False, parent_watch=True)))
    sys.exit(run_async(supervise(settings, names, processes or settings.processes)))


async def serve(
    settings: Settings, names: list[str], *, health: bool = True, parent_watch: bool = False
) -> int:
    """One worker process: health server first, then the database, then the components."""
    stopping = stop_on_signals()
    application = App(settings)
    live = application.worker(names)
    server = HealthServer(
        settings.host, settings.health_port, lambda: live.is_ready, may_measure=MayMeasure(settings)
    )
    if health:
        await server.start()
    watch = asyncio.create_task(stop_with_parent(stopping)) if parent_watch else None
    try:
        if await unless_stopped(application.prepare_database(wait=True), stopping):
            await application.rehearse()
            await live.run(stopping, after_start=_keep_what_is_loaded)
        return 0
    except DocProcError:
        raise
    except Exception:  # the process's end, told like everything else it says: one line of the log
        log.exception("worker_failed", components=names, shows_errors=True)
        return 1
    finally:
        if watch:
            watch.cancel()
        if health:
            await server.close()
        await application.close()


def _keep_what_is_loaded() -> None:
    """Modules, models and caches live as long as the process: the garbage collector need not look at them
    again and again. What a message leaves behind is mostly freed without it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


async def _service(settings: Settings, name: str) -> int:
    """One that `docproc up` started: it ends with it."""
    stopping = stop_on_signals()
    watch = asyncio.create_task(stop_with_parent(stopping))
    try:
        return await SERVICES[name](settings, stopping)
    finally:
        watch.cancel()


async def supervise(settings: Settings, names: list[str], processes: int) -> int:
    await keep_workers(settings, names, processes, stop_on_signals())
    return 0


async def keep_workers(
    settings: Settings,
    names: list[str],
    processes: int,
    stopping: asyncio.Event,
    ready: asyncio.Event | None = None,
    is_more_ready: Callable[[], bool] = lambda: True,
) -> None:
    """Worker processes under a supervisor until `stopping`; `ready` is set when all of them are warm.

    `is_more_ready` tells of what else the health server speaks for.
    """
    application = App(settings)
    supervisor = Supervisor(
        application.store, application.transport, names, processes, settings.shutdown_seconds
    )
    # The counters live in the children, who share them through files in this folder.
    metrics = tempfile.TemporaryDirectory(prefix="docproc-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = metrics.name

    def is_ready() -> bool:
        return supervisor.is_ready and is_more_ready()

    server = HealthServer(
        settings.host, settings.health_port, is_ready, Path(metrics.name), MayMeasure(settings)
    )
    await server.start()
    watch = asyncio.create_task(_tell_when_ready(is_ready, ready)) if ready else None
    try:
        if await unless_stopped(application.prepare_database(wait=True), stopping):
            await supervisor.run(stopping)
    finally:
        if watch:
            watch.cancel()
        await server.close()
        await application.close()
        metrics.cleanup()


async def _tell_when_ready(is_ready: Callable[[], bool], ready: asyncio.Event) -> None:
    while not is_ready():  # noqa: ASYNC110 # it learns it by asking the database, too
        await asyncio.sleep(0.2)
    ready.set()


async def _alone(settings: Settings, name: str) -> int:
    return await SERVICES[name](settings, stop_on_signals())


def run_component(settings: Settings) -> int:
    """`python -m docproc` with DOCPROC_COMPONENT_NAME: one component, as in a container."""
    name = settings.component_name
    logs.configure(settings, component=name)
    if name in SERVICES:
        return run_async(_alone(settings, name))
    registry = App(settings).registry
    names = ", ".join(sorted((*registry.paths, *SERVICES)))
    if name == "unknown":
        raise ConfigurationError("DOCPROC_COMPONENT_NAME is not set", remedy=f"Set it to one of: {names}")
    if name not in registry.paths:
        raise ConfigurationError(f"there is no component {name!r}", remedy=f"Use one of: {names}")
    registry.load(name)
    return run_async(serve(settings, [name]))
