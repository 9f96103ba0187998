"""Ending tasks that run beside others, such as one that keeps a connection up."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

AGAIN_SECONDS = 0.5


async def end(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel them until they are over.

    Once is not enough: a library that waits with a time limit of its own may turn a cancellation that comes
    at the same moment into that limit's error, which the task survives by intention.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)
