"""Ctrl-C, SIGTERM and the end of the process that started this one, as an event to wait for."""

from __future__ import annotations

import asyncio
import signal
import sys

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def stop_on_signals(*, once: bool = False) -> asyncio.Event:
    """Set by the first signal. With `once`, the second one ends the process as if nobody had listened."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        stopping.set()
        if once:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, stop)
    return stopping


async def stop_with_parent(stopping: asyncio.Event) -> None:
    """A supervisor holds our standard input: when it ends, even by kill -9, so do we."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()
    asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
    stopping.set()
