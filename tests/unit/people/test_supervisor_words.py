"""Words of the pages of supervisors that no template spells out."""

from __future__ import annotations

from docproc.engine.store.tables import RequestStatus
from docproc.people import texts
from docproc.people.availability import DAYS
from docproc.people.store.claims import ROLES


def test_words_that_templates_compose_are_known() -> None:
    composed = [f"sup_day_{day}" for day in DAYS] + [f"sup_role_{role}" for role in ROLES]
    composed += [f"status_{s}" for s in RequestStatus]
    assert [key for key in composed if not texts.is_known(key)] == []
