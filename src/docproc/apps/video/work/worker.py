"""For Celery's own command: `celery -A docproc.apps.video.work.worker worker`."""

from __future__ import annotations

from docproc.apps.video.settings import VideoSettings, sessions_of
from docproc.apps.video.work.tasks import create
from docproc.settings import Settings

_settings = Settings.load()
app = create(_settings.section(VideoSettings), sessions_of(_settings).folder)
