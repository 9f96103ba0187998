"""`timeout_seconds`, counted from the start of handling; whatever still runs then is cancelled or killed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from docproc.engine.running.work import Handle, Middleware, Work
from docproc.errors import TimeLimitError


class TimeLimit(Middleware):
    place = 500

    async def __call__(self, works: Sequence[Work], handle: Handle) -> None:
        limits = [work.timeout_seconds for work in works if work.timeout_seconds is not None]
        if not limits:
            return await handle(works)
        # A group shares its transaction, so it shares the shortest limit; a group that misses it is redone
        # one by one, each message with its own.
        limit = min(limits)
        started = time.monotonic()
        try:
            async with asyncio.timeout(limit) as scope:
                await handle(works)
        except TimeoutError as error:
            if not scope.expired():
                raise
            late = time.monotonic() - started - limit
            blocked = late > max(0.5, limit / 2)  # cancelling takes milliseconds, unless nobody can
            raise TimeLimitError(
                f"not done within the stage's timeout_seconds ({limit:g} s)",
                remedy="The component blocks the event loop: use `await self.offload(function, …)`"
                if blocked
                else "Raise timeout_seconds, or split the work",
            ) from error
