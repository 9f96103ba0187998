"""What a tenant says of its own work, checked and applied."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from docproc.engine.workflow.tenants import TenantSettings, adapted
from tests.unit.engine.workflow.flows import workflow_of

FLOW = workflow_of(
    "stages: [{name: a, component: work, confidence_threshold: 0.5}, {name: b, component: cut}]"
)


def test_thresholds_change_the_version_only_where_they_change_something() -> None:
    assert adapted(FLOW, TenantSettings()) is FLOW
    assert adapted(FLOW, TenantSettings(thresholds={"work": 0.5, "other": 0.9})) is FLOW
    changed = adapted(FLOW, TenantSettings(thresholds={"work": 0.8, "cut": 0.7}))
    assert [stage.confidence_threshold for stage in changed.stages] == [0.8, 0.7]
    assert changed.content_version != FLOW.content_version


@pytest.mark.parametrize(
    "said",
    [
        {"threshold": {}},
        {"thresholds": {"work": 1.5}},
        {"quotas": {"at_once": 0}},
        {"quotas": {"pages_per_day": 5}},
        {"retention": {}},
    ],
)
def test_what_cannot_be_meant_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TenantSettings.model_validate(said)
