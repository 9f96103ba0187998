"""Passing database trouble (deadlock, restart, lost connection): repeat the work, count no attempt."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import structlog

from docproc.engine.running.work import Handle, Middleware, Work
from docproc.engine.store.session import is_passing
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

FIRST_WAIT = 0.02
LONGEST_WAIT = 1.0


class Again(Middleware):
    """Nothing was committed, so nothing can be doubled; the claim notices if somebody else was faster."""

    place = 300

    async def __call__(self, works: Sequence[Work], handle: Handle) -> None:
        wait = FIRST_WAIT
        while True:
            try:
                return await handle(works)
            except Exception as error:
                if not is_passing(error):
                    raise
                log.warning("database_again", error=text_for_logs(error), messages=len(works))
            await asyncio.sleep(wait * random.uniform(0.5, 1.5))
            wait = min(wait * 2, LONGEST_WAIT)
