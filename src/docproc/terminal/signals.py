"""Ctrl-C and SIGTERM as an event to wait for."""

from __future__ import annotations

import asyncio
import signal

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
