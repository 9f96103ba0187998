"""Rehearsal: before the first request comes, one that is rolled back takes its way through the database.

What a process says to a database for the first time is compiled, and prepared there: together that takes
longer than all the rest of a small request.
"""

from __future__ import annotations

from uuid import uuid4

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.running.intake import Intake, Submission
from docproc.engine.store import requests
from docproc.errors import DocProcError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)


async def rehearse(intake: Intake, workflow: str) -> None:
    """Accept a request for this workflow and end it, in a transaction that leaves nothing behind."""
    request_id = uuid4()
    try:
        async with intake.outbox.store.rehearsing() as session:
            await intake.accept(session, Submission(workflow, request_id=request_id, channel="rehearsal"))
            await requests.advance(session, [request_id], requests.ROUTING)
            await requests.finish(session, request_id, {})
    except (DocProcError, SQLAlchemyError, OSError) as error:
        # It only saves time; whatever is wrong is told when somebody needs it.
        log.debug("rehearsal_failed", error=text_for_logs(error))
