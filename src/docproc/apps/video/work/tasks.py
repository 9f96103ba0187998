"""The Celery application: one task for each frame, with Celery's own retries, acknowledgements and limits.

Redis carries tasks and nothing else: results are files. A task that runs twice, or beside itself, does no
harm.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from celery import Celery, Task
from celery.signals import worker_process_init
from pydantic import ValidationError

from docproc.apps.video.frames import job as frame_job
from docproc.apps.video.frames.job import Job, TooOftenError
from docproc.apps.video.settings import VideoSettings

QUEUE = "frames"
TASK = "docproc.video.frame"
DEFAULT_REDIS = "redis://localhost:6379/0"
# How often workers look for tasks whose worker died.
RESTORE_SECONDS = 5
LONGEST_PAUSE = 8


def create(video: VideoSettings, folder: Path) -> Celery:
    """Wired by the settings; for those who send tasks and those who do them."""
    app = Celery("docproc.video", broker=video.video_redis_url or DEFAULT_REDIS, set_as_current=False)
    app.conf.update(configuration(video))
    most_tries = video.video_frame_retries + 1

    class FrameTask(Task):  # type: ignore[misc] # Celery has no types
        def on_failure(self, exc: Exception, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:
            """After the last retry: the server takes the original at once, instead of waiting."""
            try:
                frame_job.give_up(folder, Job.model_validate(args[0]), exc)
            except ValidationError:
                pass  # it was no task of ours: there is no frame that waits

    @app.task(  # type: ignore[untyped-decorator] # as above
        name=TASK,
        base=FrameTask,
        bind=True,
        autoretry_for=(Exception,),
        dont_autoretry_for=(TooOftenError, ValidationError),
        max_retries=video.video_frame_retries,
        retry_backoff=True,
        retry_backoff_max=LONGEST_PAUSE,
        rate_limit=f"{video.video_rate_limit}/s" if video.video_rate_limit else None,
    )
    def frame(self: Any, said: dict[str, Any]) -> None:
        worker_id = f"{self.request.hostname}:{os.getpid()}"
        try:
            frame_job.do(folder, Job.model_validate(said), most_tries, worker_id)
        except MemoryError as error:  # Celery ends the whole worker on one
            raise RuntimeError("the filter needs too much memory") from error

    return app


def configuration(video: VideoSettings) -> dict[str, Any]:
    return {
        # Nothing that could be executed is ever read from the wire.
        "accept_content": ["json"],
        "task_serializer": "json",
        "event_serializer": "json",
        "result_backend": None,
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "task_default_queue": QUEUE,
        # A frame is acknowledged when its files are there; whoever dies before that leaves it to others.
        "task_acks_late": True,
        "task_acks_on_failure_or_timeout": False,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "task_time_limit": video.video_frame_seconds,
        "broker_transport_options": {
            # Longer than a task may take, else it runs beside itself; Redis' default would be an hour.
            "visibility_timeout": video.video_visibility_seconds,
            "unacked_restore_interval": RESTORE_SECONDS,
            "unacked_restore_throttle": 1,
            "socket_keepalive": True,
            "socket_timeout": 10,
            "socket_connect_timeout": 5,
        },
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_consumer": "docproc.apps.video.work.consumer:SteadyConsumer",
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "worker_send_task_events": False,
        "worker_proc_alive_timeout": 60.0,
    }


@worker_process_init.connect  # type: ignore[untyped-decorator] # as above
def _pin(**_: Any) -> None:
    frame_job.pin_threads()
