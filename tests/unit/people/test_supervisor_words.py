"""Words of the pages of supervisors that no template spells out, and both of their languages."""

from __future__ import annotations

import re

from docproc.engine.store.tables import RequestStatus
from docproc.people import texts
from docproc.people.availability import DAYS
from docproc.people.store.holding import ROLES
from docproc.people.texts import supervision


def test_words_that_templates_compose_are_known() -> None:
    composed = [f"sup_day_{day}" for day in DAYS] + [f"sup_role_{role}" for role in ROLES]
    composed += [f"sup_status_{s}" for s in RequestStatus]
    assert set(composed) <= set(texts.ALL)


def test_both_languages_fill_in_the_same_values() -> None:
    for key, (english, spanish) in supervision.TEXTS.items():
        assert set(re.findall(r"{(\w+)}", english)) == set(re.findall(r"{(\w+)}", spanish)), key
        assert english and spanish, key


def test_words_are_nobody_elses() -> None:
    assert all(texts.ALL[key] == both for key, both in supervision.TEXTS.items())
