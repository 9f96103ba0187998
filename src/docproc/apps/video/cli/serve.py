"""`docproc video serve`: the server that clients send films to."""

from __future__ import annotations

import sys

import typer

from docproc import logs
from docproc.settings import Settings
from docproc.terminal.output import console, run_async
from docproc.terminal.signals import stop_on_signals

# The preview keeps 8080, which is also where every other process has its health server.
HEALTH_PORT = 9091


def serve(
    bind: str = typer.Option(None, "--bind", help="Address to listen on (default DOCPROC_VIDEO_BIND, ::)"),
    port: int = typer.Option(
        None, "--port", min=0, max=65535, help="0 takes any (default DOCPROC_VIDEO_PORT, 9090)"
    ),
) -> None:
    """Take films from clients and work on them, until Ctrl-C or SIGTERM."""
    settings = Settings.load()
    moved: dict[str, object] = {}
    if "health_port" not in settings.model_fields_set:
        moved["health_port"] = HEALTH_PORT
    if "prefetch_count" not in settings.model_fields_set:
        moved["prefetch_count"] = settings.processes
    settings = settings.model_copy(update=moved)
    logs.configure(settings, component="video_server")
    sys.exit(run_async(_serve(settings, bind, port)))


async def _serve(settings: Settings, bind: str | None, port: int | None) -> int:
    from docproc.apps.video.server.server import Server  # the engine, OpenCV and FFmpeg
    from docproc.apps.video.settings import VideoSettings

    video = settings.section(VideoSettings)
    server = Server(settings, bind or video.video_bind, video.video_port if port is None else port)
    console.print(
        f"video server on port {server.listener.port}, data in {server.sessions.folder}", soft_wrap=True
    )
    sys.stdout.flush()
    await server.run(stop_on_signals())
    return 0
