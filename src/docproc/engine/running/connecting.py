"""The way to the broker: how a process waits for one that is late."""

from __future__ import annotations

import asyncio

import structlog

from docproc.engine.transport import Transport
from docproc.errors import TransportError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

_FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0


async def connect(transport: Transport, *, longest_pause_seconds: float = LONGEST_PAUSE_SECONDS) -> None:
    """Until it is connected, by us or by whoever made the process; outlasts a broker that is away."""
    pause = min(_FIRST_PAUSE_SECONDS, longest_pause_seconds)
    while not transport.is_connected:
        try:
            return await transport.open()
        except TransportError as error:
            log.warning("waiting_for_broker", problem=text_for_logs(error))
        await asyncio.sleep(pause)
        pause = min(pause * 2, longest_pause_seconds)
