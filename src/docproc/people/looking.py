"""Who may see what is in a task without holding it, and how often it is noted that somebody did."""

from __future__ import annotations

from collections.abc import Collection
from time import monotonic
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.people.store import claims

# A program that asks every second leaves a line for each task now and then, not every second.
AGAIN_SECONDS = 300.0
MOST_KEPT = 50_000


def may_see(session: AsyncSession, operator: Operator) -> list[ColumnElement[bool]]:
    """What the person may take, holds or has answered; supervisors see all that people do."""
    of_tenant = BackofficeTask.tenant_id == operator.tenant_id
    if "supervisor" in claims.roles_up_to(operator.role):
        return [of_tenant]
    mine = BackofficeTask.assigned_to == operator.id
    return [of_tenant, or_(mine, and_(claims.PENDING, *claims.may_do(session, operator)))]


class Looks:
    """Which tasks a person was noted to have looked at lately; kept in this process only."""

    def __init__(self) -> None:
        self._noted: dict[tuple[str, UUID], float] = {}

    def fresh(self, name: str, tasks: Collection[UUID]) -> set[UUID]:
        """Those that are to be noted."""
        since = monotonic() - AGAIN_SECONDS
        return {task for task in tasks if self._noted.get((name, task), -AGAIN_SECONDS) <= since}

    def note(self, name: str, tasks: Collection[UUID]) -> None:
        now = monotonic()
        if len(self._noted) > MOST_KEPT:
            self._noted = {key: at for key, at in self._noted.items() if at > now - AGAIN_SECONDS}
        self._noted.update({(name, task): now for task in tasks})
