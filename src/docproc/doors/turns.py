"""Turns: of several processes with the same door, one at a time looks after a place."""

from __future__ import annotations

import hashlib
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from docproc.engine.store import duties
from docproc.engine.store.session import Store

# Longer than a round takes, and short enough for another to go on soon after a crash.
TURN_SECONDS = 20.0
_LONGEST = 64  # the column's size


class Turns:
    def __init__(self, store: Store, holder: str) -> None:
        self.store = store
        self.holder = f"{holder[:80]}:door"
        self._held: set[str] = set()

    async def mine(self, name: str) -> bool:
        """Take or keep a turn; False while another process has it."""
        if len(name) > _LONGEST:
            name = f"door {hashlib.sha256(name.encode()).hexdigest()[:40]}"
        async with self.store.claiming() as connection:
            is_mine = await duties.hold(connection, self.store, name, self.holder, TURN_SECONDS)
        if is_mine:
            self._held.add(name)
        return is_mine

    async def end(self) -> None:
        """Others may go on at once; without this, when the turns are over."""
        with suppress(SQLAlchemyError, OSError):
            async with self.store.claiming() as connection:
                for name in self._held:
                    await duties.give_up(connection, name, self.holder)
        self._held.clear()
