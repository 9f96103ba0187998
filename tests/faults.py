"""Components for tests that observe processes: held by files, crashing, or cured."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import NEXT, BaseComponent, Emission
from docproc.engine.message import PipelineMessage


class Gate(BaseComponent):
    """Waits in `setup` for the file `warm`, and with each message for the file `open`, in DOCPROC_HOME."""

    component_name = "gate"

    async def setup(self) -> None:
        await _exists(self.settings.home / "warm")

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        (self.settings.home / f"entered-{message.message_id}").touch()
        await _exists(self.settings.home / "open")
        return [(NEXT, message)]


class CrashingSetup(BaseComponent):
    """Can never start."""

    component_name = "crash"

    async def setup(self) -> None:
        raise RuntimeError("the model file is damaged")

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return [(NEXT, message)]


class Cured(BaseComponent):
    """Takes the place of `poison` once somebody has mended it."""

    component_name = "poison"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return [(NEXT, message)]


async def _exists(path: Path) -> None:
    while not path.exists():  # another process makes the file
        await asyncio.sleep(0.01)
