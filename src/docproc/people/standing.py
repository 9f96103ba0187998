"""What a task is to a person: theirs to answer or to take, or not."""

from __future__ import annotations

from enum import StrEnum

from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.errors import NotAllowedError
from docproc.people.store import claims


class Standing(StrEnum):
    """What a task is to a person."""

    HELD = "held"  # theirs to answer
    FREE = "free"  # theirs to take
    OTHER = "other"  # somebody else's
    DONE = "done"
    NOT_ALLOWED = "not_allowed"


def standing(task: BackofficeTask, operator: Operator) -> Standing:
    if task.tenant_id != operator.tenant_id:
        return Standing.NOT_ALLOWED
    if task.status == "assigned" and task.assigned_to == operator.id:
        return Standing.HELD if task.accepted_at else Standing.FREE  # an offer is taken like any other
    if task.status == "assigned":
        return Standing.OTHER
    if task.status not in ("pending", "timeout"):
        return Standing.DONE
    is_able = set(task.required_skills or ()) <= set(operator.skills or ())
    is_allowed = is_able and task.needs_role in claims.roles_up_to(operator.role)
    return Standing.FREE if is_allowed else Standing.NOT_ALLOWED


def check_holds(task: BackofficeTask, operator: Operator) -> None:
    if standing(task, operator) is not Standing.HELD:
        raise NotAllowedError("you do not hold this task", remedy="Take the task first")
