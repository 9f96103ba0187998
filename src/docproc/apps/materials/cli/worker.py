"""`docproc material worker`: events of the queue in, summaries and quizzes out, until Ctrl-C."""

from __future__ import annotations

import sys

from docproc import logs
from docproc.apps.materials.order import WORKER
from docproc.settings import Settings
from docproc.terminal.output import run_async
from docproc.terminal.signals import stop_on_signals


def worker() -> None:
    """Take events from RabbitMQ and work on materials, until Ctrl-C or SIGTERM.

    Without DOCPROC_MATERIALS_RABBITMQ_URL or DOCPROC_RABBITMQ_URL it works on what the other doors let in.
    """
    settings = Settings.load()
    if settings.is_embedded and "prefetch_count" not in settings.model_fields_set:
        settings = settings.model_copy(update={"prefetch_count": settings.processes})
    settings = settings.model_copy(update={"component_name": WORKER})
    logs.configure(settings, component=WORKER)
    sys.exit(run_async(_work(settings)))


async def _work(settings: Settings) -> int:
    from docproc.apps.materials.door.worker import MaterialWorker  # the engine and the readers

    await MaterialWorker(settings).run(stop_on_signals())
    return 0
