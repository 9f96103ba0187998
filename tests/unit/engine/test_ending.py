"""Tasks beside the component end, even if a cancellation gets lost."""

from __future__ import annotations

import asyncio

from docproc.engine import ending


async def test_task_that_loses_a_cancellation_is_cancelled_again() -> None:
    lost = 0

    async def stubborn() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost += 1
                if lost > 1:
                    raise

    tasks = [asyncio.create_task(stubborn()), asyncio.create_task(asyncio.sleep(0))]
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await ending.end(tasks)
    assert lost == 2 and all(task.done() for task in tasks)
