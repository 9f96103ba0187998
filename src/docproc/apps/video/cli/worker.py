"""`docproc video worker`: a Celery worker that filters frames."""

from __future__ import annotations

import os

import typer

from docproc import logs
from docproc.errors import ConfigurationError
from docproc.settings import Settings


def worker(
    concurrency: int = typer.Option(
        None,
        "--concurrency",
        "-c",
        min=1,
        help="Frames at once (default DOCPROC_VIDEO_CONCURRENCY, the cores)",
    ),
    name: str = typer.Option(None, "--name", help="Celery's name of this worker (default one of its own)"),
) -> None:
    """Filter frames for video servers on the same Redis and the same folder, until Ctrl-C or SIGTERM."""
    settings = Settings.load()
    logs.configure(settings, component="video_worker")
    from docproc.apps.video.settings import VideoSettings, sessions_of
    from docproc.apps.video.work.tasks import QUEUE, create

    video = settings.section(VideoSettings)
    if not video.video_redis_url:
        raise ConfigurationError(
            "workers are told over Redis, and none is named",
            remedy="Set DOCPROC_VIDEO_REDIS_URL=redis://localhost:6379/0 for server and workers",
        )
    sessions = sessions_of(settings)
    sessions.prepare()
    app = create(video, sessions.folder)
    told = ["worker", "--queues", QUEUE, "--concurrency", str(concurrency or video.video_concurrency)]
    told += ["--hostname", name or f"video-{os.getpid()}@%h", "--loglevel", settings.log_level.upper()]
    # Frames are independent: workers need not know of each other.
    app.worker_main([*told, "--without-gossip", "--without-mingle"])
