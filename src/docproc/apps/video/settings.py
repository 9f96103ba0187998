"""The settings of video."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, field_validator, model_validator

from docproc.apps.video.film.info import Limits
from docproc.apps.video.sessions import Sessions
from docproc.settings import Settings, SettingsSection


class VideoSettings(SettingsSection):
    # where
    # The broker of the Celery workers; unset: frames are filtered by child processes of the server.
    video_redis_url: str | None = None
    # The folder that server, workers and preview share; unset: `video` under the home folder.
    video_data: Path | None = None

    # the server
    video_bind: str = "::"
    video_port: int = Field(default=9090, ge=0, le=65535)
    # What clients that are not on this machine must say; unset: they are refused unless `allow_open`.
    video_token: SecretStr | None = None
    video_clients: int = Field(default=64, ge=1)
    # Films that one server works on at once; others wait.
    video_films: int = Field(default=2, ge=1)
    video_idle_seconds: float = Field(default=60.0, gt=0)

    # what is taken
    video_max_mb: float = Field(default=4096.0, gt=0)
    video_max_seconds: float = Field(default=7200.0, gt=0)
    video_max_pixels: int = Field(default=3840 * 2160, ge=256)
    video_max_filters: int = Field(default=8, ge=1)

    # frames
    video_frames_in_flight: int = Field(default=64, ge=1, le=4096)
    # Frames a second that one Celery worker takes; 0: as many as it can.
    video_rate_limit: int = Field(default=64, ge=0)
    video_frame_seconds: float = Field(default=30.0, gt=0)
    video_frame_retries: int = Field(default=3, ge=0, le=20)
    # How long nothing may come before the originals of the frames that are waited for are used.
    video_frame_timeout_seconds: float = Field(default=300.0, gt=0)
    video_poll_seconds: float = Field(default=0.1, gt=0)
    # After how long a frame of a worker that died is given to another one.
    video_visibility_seconds: float = Field(default=45.0, gt=0)
    # Frames at once in one Celery worker.
    video_concurrency: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1)
    video_small_png: bool = False

    # what stays
    video_keep_frames: bool = True
    video_keep_hours: float = Field(default=24.0, ge=0)
    video_keep_gb: float = Field(default=50.0, ge=0)
    # For how long an upload that broke off can be resumed.
    video_resume_minutes: float = Field(default=60.0, ge=0)

    # the preview
    video_preview_host: str = "127.0.0.1"
    video_preview_port: int = Field(default=8080, ge=0, le=65535)
    # The preview as browsers reach it, for the link that clients are given; unset: by host and port.
    video_preview_url: str | None = None

    @field_validator("video_preview_url", "video_redis_url")
    @classmethod
    def _has_scheme(cls, value: Any) -> Any:
        if value is not None and "://" not in value:
            raise ValueError("write it with its scheme, as redis://host:6379/0 or https://host")
        return value

    @model_validator(mode="after")
    def _redelivers_late_enough(self) -> VideoSettings:
        if self.video_visibility_seconds <= self.video_frame_seconds:
            raise ValueError("DOCPROC_VIDEO_VISIBILITY_SECONDS must be more than DOCPROC_VIDEO_FRAME_SECONDS")
        return self

    @property
    def limits(self) -> Limits:
        return Limits(self.video_max_seconds, self.video_max_pixels)

    @property
    def preview_url(self) -> str:
        if self.video_preview_url:
            return self.video_preview_url.rstrip("/")
        host = self.video_preview_host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.video_preview_port}"


def sessions_of(settings: Settings) -> Sessions:
    """The sessions of this deployment."""
    given = settings.section(VideoSettings).video_data
    return Sessions((given or settings.home / "video").expanduser().absolute())
