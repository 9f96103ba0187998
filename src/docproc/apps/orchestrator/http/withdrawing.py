"""Taking envelopes back from the queues of services, where a task is cancelled over HTTP."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.apps.orchestrator.services.choosing import wire_of
from docproc.apps.orchestrator.services.wire import Outgoing, WireContext


async def withdraw(application: App, session: AsyncSession, sent: Sequence[Outgoing]) -> None:
    """A service that has not begun with one of them never does; with what is under way, fencing deals.

    The wire is made for it: sending and answers are the workers' work, and tasks are cancelled seldom.
    """
    if not sent:
        return
    context = WireContext(
        application.settings, application.store, application.worker_id, announce=lambda _queues: None
    )
    wire = wire_of(context)
    try:
        await wire.withdraw(session, sent)
    finally:
        await wire.close()
