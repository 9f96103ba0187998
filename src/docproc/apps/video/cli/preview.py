"""`docproc video preview`: sessions and their frames in a browser."""

from __future__ import annotations

import typer

from docproc import logs
from docproc.settings import Settings


def preview(
    host: str = typer.Option(
        None, "--host", help="Address to listen on (default DOCPROC_VIDEO_PREVIEW_HOST)"
    ),
    port: int = typer.Option(
        None, "--port", min=0, max=65535, help="(default DOCPROC_VIDEO_PREVIEW_PORT, 8080)"
    ),
) -> None:
    """Show films while they are made, until Ctrl-C or SIGTERM."""
    settings = Settings.load()
    logs.configure(settings, component="video_preview")
    from docproc.apps.video.preview.serving import serve  # Flask
    from docproc.apps.video.settings import VideoSettings

    video = settings.section(VideoSettings)
    serve(settings, host or video.video_preview_host, video.video_preview_port if port is None else port)
