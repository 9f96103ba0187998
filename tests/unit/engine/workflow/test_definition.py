"""The workflow models: defaults, limits, and a version that is the content's address."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from pydantic import ValidationError

from docproc.apps.documents.schemas import ExtractionSchema, SchemaField
from docproc.engine.workflow.definition import (
    Aggregation,
    ErrorRetry,
    OnFailure,
    Retry,
    Sla,
    Stage,
    WhenNoTime,
    Workflow,
)
from tests.unit.engine.workflow.flows import MODEL


def _workflow(**values: Any) -> Workflow:
    return MODEL.model_validate({"name": "flow", "stages": [{"name": "a", "component": "work"}], **values})


def _stage(**values: Any) -> Stage:
    return Stage.model_validate({"name": "a", "component": "work", **values})


def test_a_stage_needs_only_name_and_component() -> None:
    stage = _stage()
    assert (stage.routing_key, stage.timeout_seconds, stage.parallel) == (None, None, False)
    assert (stage.confidence_threshold, stage.backoffice_queue, stage.aggregation) == (None, None, None)
    assert (stage.after, stage.when, stage.on_failure, stage.window) == (None, None, None, None)
    assert stage.retry == Retry() and stage.options == {}


def test_every_specified_stage_key_is_read() -> None:
    stage = _stage(
        routing_key="page.classify",
        timeout_seconds=15,
        parallel=True,
        confidence_threshold=0.8,
        backoffice_queue="task.classification",
        aggregation={"type": "fan_in", "collect_by": "request_id", "expect_count_from": "page_count"},
    )
    assert stage.routing_key == "page.classify"
    assert stage.timeout_seconds == 15
    assert stage.parallel is True
    assert stage.confidence_threshold == 0.8
    assert stage.backoffice_queue == "task.classification"
    assert stage.aggregation == Aggregation(
        type="fan_in", collect_by="request_id", expect_count_from="page_count"
    )


def test_what_happens_without_time_is_one_of_two_things() -> None:
    assert _stage().when_no_time is None
    assert _stage(when_no_time="wait").when_no_time is WhenNoTime.WAIT
    assert _stage(when_no_time="answer_flagged").when_no_time is WhenNoTime.ANSWER_FLAGGED
    with pytest.raises(ValidationError, match="when_no_time"):
        _stage(when_no_time="hurry")


def test_sla_defaults_to_the_specified_thresholds() -> None:
    sla = Sla(deadline_seconds=60)
    assert (sla.warn_threshold_pct, sla.escalation_threshold_pct) == (70, 90)


def test_a_workflow_without_sla_leaves_it_to_the_settings() -> None:
    assert _workflow().sla is None


@pytest.mark.parametrize(
    ("written", "read"), [("b", ("b",)), (["b"], ("b",)), (["b", "c"], ("b", "c")), ([], ()), (None, None)]
)
def test_after_takes_one_name_or_several(written: Any, read: tuple[str, ...] | None) -> None:
    assert _stage(after=written).after == read


@pytest.mark.parametrize("written", ["continue", "fail_request"])
def test_on_failure_is_one_of_two(written: str) -> None:
    assert _stage(on_failure=written).on_failure is OnFailure(written)


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"tiemout_seconds": 3}, "tiemout_seconds"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": -1}, "timeout_seconds"),
        ({"timeout_seconds": float("inf")}, "timeout_seconds"),
        ({"confidence_threshold": 1.01}, "confidence_threshold"),
        ({"confidence_threshold": -0.1}, "confidence_threshold"),
        ({"window": 0}, "window"),
        ({"on_failure": "ignore"}, "on_failure"),
        ({"name": ""}, "name"),
        ({"name": "two words"}, "name"),
        ({"name": "a/b"}, "name"),
        ({"name": "a:b"}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"name": "-a"}, "name"),
        ({"component": "../x"}, "component"),
        ({"after": ["not a name"]}, "after"),
        ({"when": "unknown == 1"}, "when"),
        ({"when": "payload.x =="}, "when"),
        ({"aggregation": {"type": "fan_out"}}, "aggregation"),
        ({"options": ["x"]}, "options"),
        ({"retry": {"attempts": 0}}, "retry"),
        ({"retry": {"factor": 0.5}}, "retry"),
        ({"retry": {"jitter": 1.5}}, "retry"),
        ({"retry": {"delay_seconds": -1}}, "retry"),
        ({"retry": {"max_delay_seconds": float("inf")}}, "retry"),
        ({"retry": {"jitter": float("nan")}}, "retry"),
        ({"retry": {"atempts": 3}}, "retry"),
        ({"retry": {"errors": {"X": {"delays_seconds": [1, -1]}}}}, "retry"),
    ],
)
def test_senseless_stage_values_are_refused_at_their_key(values: dict[str, Any], key: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _stage(**values)
    assert {error["loc"][0] for error in caught.value.errors()} == {key}


@pytest.mark.parametrize(
    "values",
    [
        {"sla": {"deadline_seconds": 0}},
        {"sla": {}},
        {"sla": {"deadline_seconds": 60, "warn_threshold_pct": 101}},
        {"sla": {"deadline_seconds": 60, "escalation_threshold_pct": 0}},
        {"stages": []},
        {"name": "../../x"},
        {"extraction_schemas": {"invoice": {"fields": [{"name": "Total"}]}}},
        {"extraction_schemas": {"invoice": {"fields": [{"name": "total", "type": "money"}]}}},
        {"extraction_schemas": {"invoice": {}}},
        {"extraction_schemas": {"invoice": {"fields": [{"name": "total"}, {"name": "total"}]}}},
        {"unknown": 1},
    ],
)
def test_senseless_workflow_values_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        _workflow(**values)
    assert caught.value.errors()[0]["loc"][0] == next(iter(values))


@pytest.mark.parametrize("values", [{}, {"delays_seconds": [1], "unlimited": True}])
def test_error_retry_is_by_delays_or_unlimited_but_not_both(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="either `delays_seconds"):
        ErrorRetry.model_validate(values)


def test_schema_fields_are_optional_strings_by_default() -> None:
    schema = ExtractionSchema.model_validate({"fields": [{"name": "vendor_name"}]})
    assert schema.fields == (SchemaField(name="vendor_name", type="string", required=False),)


def test_stage_is_found_by_name() -> None:
    workflow = _workflow(stages=[{"name": "a", "component": "x"}, {"name": "b", "component": "y"}])
    assert workflow.stage("b").component == "y"


def test_models_cannot_be_changed_after_loading() -> None:
    with pytest.raises(ValidationError):
        _workflow().name = "other"  # type: ignore[misc]  # that it is refused is the point


# --- the version ----------------------------------------------------------------------------------------

RICH: dict[str, Any] = {
    "description": "Standard",
    "version": 1,
    "sla": {"deadline_seconds": 60},
    "stages": [
        {
            "name": "a",
            "component": "work",
            "timeout_seconds": 10,
            "retry": {"attempts": 5, "errors": {"TimeoutError": {"delays_seconds": [1, 2]}}},
            "options": {"prompt": "read  this", "nothing": None, "list": [1, 2.5, None]},
        },
        {"name": "b", "component": "work", "after": "a", "when": "payload.x == 1"},
    ],
    "extraction_schemas": {"invoice": {"fields": [{"name": "total", "type": "decimal", "required": True}]}},
}


def test_version_is_sixteen_hex_digits() -> None:
    version = _workflow(**RICH).content_version
    assert len(version) == 16
    int(version, 16)


def test_stored_version_reads_back_as_the_same_workflow_and_version() -> None:
    workflow = _workflow(**RICH)
    stored = MODEL.model_validate_json(workflow.model_dump_json(exclude_none=True))
    assert stored == workflow
    assert stored.content_version == workflow.content_version


def test_dates_in_options_are_text_in_every_process() -> None:
    written = {"since": datetime.date(2024, 1, 31), "nested": {"day": [datetime.date(2024, 2, 1)]}}
    fresh = _workflow(stages=[{"name": "a", "component": "work", "options": written}])
    stored = MODEL.model_validate_json(fresh.model_dump_json(exclude_none=True))
    assert fresh.stages[0].options == {"since": "2024-01-31", "nested": {"day": ["2024-02-01"]}}
    assert stored == fresh


def test_saying_a_default_does_not_change_the_version() -> None:
    spelled = _workflow(stages=[{"name": "a", "component": "work", "parallel": False, "when": None}])
    assert spelled.content_version == _workflow().content_version


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"description": "a"},
        {"version": 2},
        {"sla": {"deadline_seconds": 61}},
        {"stages": [{"name": "a", "component": "work", "timeout_seconds": 1}]},
        {"stages": [{"name": "a", "component": "work", "options": {"separator": " "}}]},
        {"stages": [{"name": "a", "component": "work", "options": {"separator": "  "}}]},
        {"stages": [{"name": "a", "component": "work", "retry": {"attempts": 4}}]},
        {"extraction_schemas": {"invoice": {"fields": [{"name": "total"}]}}},
        {"extraction_schemas": {"invoice": {"fields": [{"name": "total", "required": True}]}}},
    ],
)
def test_any_change_of_content_changes_the_version(change: dict[str, Any]) -> None:
    others = {_workflow().content_version, _workflow(description="b").content_version}
    assert _workflow(**change).content_version not in others


def test_spaces_inside_a_value_are_content() -> None:
    one, two = (
        _workflow(stages=[{"name": "a", "component": "work", "when": f"payload.x == 'a{gap}b'"}])
        for gap in (" ", "  ")
    )
    assert one.content_version != two.content_version


def test_order_of_the_stages_is_content() -> None:
    stages = [{"name": "a", "component": "x"}, {"name": "b", "component": "x"}]
    assert (
        _workflow(stages=stages).content_version != _workflow(stages=list(reversed(stages))).content_version
    )
