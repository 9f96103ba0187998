"""`docproc video clean`: make room."""

from __future__ import annotations

from typing import Any

import typer

from docproc.apps.video.cli.options import AsJson
from docproc.terminal.output import console, load_settings, print_json, run_async


def clean(
    hours: float = typer.Option(
        None, "--hours", min=0, help="Keep what is newer (default DOCPROC_VIDEO_KEEP_HOURS)"
    ),
    gigabytes: float = typer.Option(None, "--gb", min=0, help="Keep so much (default DOCPROC_VIDEO_KEEP_GB)"),
    as_json: bool = AsJson,
) -> None:
    """Remove the films and frames of sessions that are over; the server does it every ten minutes."""
    gone = run_async(_clean(hours, gigabytes))
    if as_json:
        return print_json({"removed": gone})
    console.print(f"{len(gone)} sessions removed")


async def _clean(hours: float | None, gigabytes: float | None) -> list[str]:
    import asyncio

    from docproc.app import open_database
    from docproc.apps.video.cleaning import clean as remove
    from docproc.apps.video.cleaning import live_sessions
    from docproc.apps.video.settings import VideoSettings, sessions_of

    settings = load_settings()
    given: dict[str, Any] = {"video_keep_hours": hours, "video_keep_gb": gigabytes}
    video = settings.section(VideoSettings)
    video = video.model_copy(update={name: value for name, value in given.items() if value is not None})
    sessions = sessions_of(settings)
    async with open_database(settings) as application:
        live = await live_sessions(application, sessions)
    return [str(one) for one in await asyncio.to_thread(remove, sessions, video, live)]
