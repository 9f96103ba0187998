"""collect: a join for any unit that hands on what its units found."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import NEXT, Emission, JoinComponent
from docproc.engine.message import PipelineMessage
from docproc.engine.store import fan_in
from docproc.engine.store.fan_in import Join


class Collect(JoinComponent):
    """Emits one message for the whole group: `payload.units` maps each unit key to its payload."""

    component_name = "collect"
    keeps_bodies = True
    only_counts = True

    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        found = await fan_in.bodies(session, join)
        units = {key: found[key].payload for key in sorted(found)}
        return [(NEXT, message.model_copy(update={"payload": {"units": units}}))]
