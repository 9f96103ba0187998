"""What every stage of a material has in common: whose material it is, and what is done when it fails for
good."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials import failures
from docproc.apps.materials.errors import MaterialError
from docproc.apps.materials.order import PAYLOAD_KEY, Order
from docproc.apps.materials.settings import MaterialsSettings
from docproc.engine.component import NEXT, REQUEST_UNIT, BaseComponent, Context, Emission
from docproc.engine.message import PipelineMessage

# Work that takes longer than this is seen in the request's status while it lasts.
ANNOUNCE_SECONDS = 1.0


class MaterialStage(BaseComponent):
    """A material is one unit: its stages hand one message on, which grows."""

    takes = REQUEST_UNIT

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.materials = self.settings.section(MaterialsSettings)

    def order(self, message: PipelineMessage) -> Order:
        """What is wanted; raises MaterialError (`bad_order`) for a request that does not say."""
        said = message.payload.get(PAYLOAD_KEY) or {}
        if isinstance(said, dict):  # who names no material means a new one
            said = {"material_id": str(message.request_id), **said}
        try:
            return Order.model_validate(said)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            problem = f"payload {PAYLOAD_KEY}.{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise MaterialError(problem, code="bad_order", remedy="Send it to POST /materials") from error

    @asynccontextmanager
    async def announced(self, message: PipelineMessage) -> AsyncIterator[None]:
        """Give the request this stage's status where the block takes long; what is done at once gets it
        with its
        own commit, and is spared a transaction. The session is touched after the block."""
        began = False

        async def say() -> None:
            nonlocal began
            await asyncio.sleep(ANNOUNCE_SECONDS)
            began = True
            await self.announce(message)

        saying = asyncio.create_task(say())
        try:
            yield
        finally:
            if not began:  # a transaction that was begun is not cut off
                saying.cancel()
            await asyncio.gather(saying, return_exceptions=True)

    def language(self, order: Order) -> str:
        return order.language or self.materials.materials_language

    async def after_exhausted(
        self, message: PipelineMessage, error: Exception, session: AsyncSession
    ) -> list[Emission]:
        """No substitute: the material has failed, and all who wait for it are to be told."""
        await failures.record(session, self.settings, message, error)
        return []


def onward(message: PipelineMessage, **found: Any) -> list[Emission]:
    """The message for the next stage, with what was found added to it."""
    return [(NEXT, message.model_copy(update={"payload": {**message.payload, **found}}))]
