"""What Celery is told, by the default settings."""

from __future__ import annotations

from docproc.apps.video.settings import VideoSettings
from docproc.apps.video.work.celery import MORE_SECONDS
from docproc.apps.video.work.tasks import configuration

# Within which a frame whose worker died is filtered by another one.
TAKEOVER_SECONDS = 90


def test_frame_of_a_dead_worker_is_filtered_in_time_however_long_it_takes() -> None:
    video = VideoSettings()
    options = configuration(video)["broker_transport_options"]
    found = options["visibility_timeout"] + options["unacked_restore_interval"]
    assert found + video.video_frame_seconds <= TAKEOVER_SECONDS


def test_frame_that_redis_forgot_is_sent_again_in_time() -> None:
    assert VideoSettings().video_visibility_seconds + MORE_SECONDS < TAKEOVER_SECONDS


def test_celery_reads_json_alone_and_keeps_no_results() -> None:
    told = configuration(VideoSettings())
    assert told["accept_content"] == ["json"] and told["result_backend"] is None
    assert told["task_acks_late"] and told["task_reject_on_worker_lost"]
