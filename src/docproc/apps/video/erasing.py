"""What is erased with a request: its film, its frames and the film that was made."""

from __future__ import annotations

import asyncio
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.video.settings import sessions_of
from docproc.settings import Settings


async def erase(session: AsyncSession, request_id: UUID) -> None:
    """Files need no transaction: without them a request that stays has nothing to show, which is no harm."""
    place = sessions_of(Settings.load()).of(request_id)
    await asyncio.to_thread(place.remove)
