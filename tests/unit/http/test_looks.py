"""What a look says: whether a request is over, and when to look again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from docproc.engine.store.events import BEGINNING
from docproc.engine.store.tables import RequestStatus
from docproc.http import looks
from docproc.http.looks import Look, is_over

THEN = datetime(2026, 3, 1, tzinfo=UTC)
MANY: list[Any] = [None] * looks.BATCH


@pytest.mark.parametrize("completed_at", [None, THEN])
@pytest.mark.parametrize("status", RequestStatus)
def test_breached_request_is_over_only_when_it_is_complete(
    status: RequestStatus, completed_at: datetime | None
) -> None:
    ends = {RequestStatus.COMPLETED, RequestStatus.FAILED}
    late = status == RequestStatus.SLA_BREACHED and completed_at is not None
    assert is_over(status, completed_at) == (status in ends or late)


@pytest.mark.parametrize(
    ("look", "seconds"),
    [
        (Look([], BEGINNING), looks.HEARTBEAT_SECONDS),
        (Look(MANY[:1], BEGINNING), looks.HEARTBEAT_SECONDS),
        (Look(MANY, BEGINNING, has_more=True), 0),
        (Look([], BEGINNING, has_more=True), looks.TICK_SECONDS),
        (Look([], BEGINNING, has_failed=True), looks.TROUBLE_SECONDS),
    ],
)
def test_next_look_comes_when_it_can_show_something(look: Look, seconds: float) -> None:
    assert look.patience == seconds


def test_end_is_when_a_request_is_over_and_everything_was_shown() -> None:
    assert Look([], BEGINNING, is_over=True).is_end
    assert not Look([], BEGINNING, is_over=True, has_more=True).is_end
    assert not Look([], BEGINNING).is_end
