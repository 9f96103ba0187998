"""The axes of specification §9.2 from sums: nothing is divided by zero, nothing counted twice."""

from __future__ import annotations

import pytest

from docproc.alerts import axes
from docproc.alerts.latency import bucket_of
from docproc.alerts.samples import series_of
from docproc.alerts.spoken import Spoken


def sums(**given: dict[str, float]) -> dict[str, dict[str, float]]:
    return {metric: given.get(metric.replace(".", "_"), {}) for metric in axes.METRICS}


OCR = series_of({"stage": "ocr", "component": "ocr"})
CLASSIFY = series_of({"stage": "classify", "component": "classifier"})
COUNTED = sums(
    stage_handled={
        OCR: 200,
        CLASSIFY: 100,
        series_of({"stage": "classify", "type": "invoice"}): 60,
        series_of({"stage": "classify", "type": "letter"}): 40,
    },
    stage_failed={OCR: 50},
    stage_asked={CLASSIFY: 10, series_of({"stage": "classify", "type": "letter"}): 10},
    stage_seconds={OCR: 300, CLASSIFY: 1},
    stage_bucket={series_of({"stage": "ocr", "bucket": str(bucket_of(1.5))}): 200},
    requests_received={"application=documents": 40, "application=materials": 2},
    requests_ended={"application=documents": 20},
    requests_late={"application=documents": 1},
    requests_straight_through={"application=documents": 15},
    requests_bucket={series_of({"application": "documents", "bucket": str(bucket_of(4))}): 20},
    tasks_answered={"type=classification": 4},
    tasks_answer_seconds={"type=classification": 100},
)


def test_stages_have_throughput_latency_and_doubts() -> None:
    classify, ocr = axes.stages(COUNTED, 10)
    assert (ocr.stage, ocr.component, ocr.per_minute, ocr.mean) == ("ocr", "ocr", 20, 1.5)
    assert ocr.p95 == pytest.approx(1.5, rel=0.25)
    assert (ocr.failed_share, ocr.asked_share) == (0.2, 0.0)
    assert classify.asked_share == 0.1


def test_doubts_are_told_by_type_the_most_doubtful_first() -> None:
    assert [(one.type, one.asked_share) for one in axes.types(COUNTED)] == [
        ("letter", 0.25),
        ("invoice", 0.0),
    ]


def test_requests_are_told_by_application_and_together() -> None:
    documents, materials = axes.requests(COUNTED)
    assert (documents.in_time_share, documents.straight_share) == (0.95, 0.75)
    assert materials.in_time_share is None
    together = axes.all_requests(COUNTED)
    assert (together.received, together.in_time_share) == (42, 0.95)
    assert axes.people(COUNTED)["classification"].mean == 25


def test_prometheus_is_told_the_same() -> None:
    told = {(one.name, *sorted(one.labels.items())): one.value for one in axes.told(COUNTED, 10)}
    labels = (("component", "ocr"), ("stage", "ocr"))
    assert told["docproc_stage_units_per_minute", *labels] == 20
    assert told["docproc_stage_latency_seconds", *labels, ("statistic", "mean")] == 1.5
    assert told["docproc_straight_through_ratio", ("application", "documents")] == 0.75
    assert told["docproc_stage_asked_ratio", ("stage", "classify"), ("type", "letter")] == 0.25


def test_of_nothing_there_are_no_figures() -> None:
    empty = sums()
    assert (axes.stages(empty, 10), axes.types(empty), list(axes.told(empty, 10))) == ([], [], [])
    assert axes.all_requests(empty).in_time_share is None


@pytest.mark.parametrize(
    ("language", "written"),
    [
        (
            "es",
            [
                "40.478,3",
                "91,2\u00a0%",
                "100\u00a0%",
                "2,3\u00a0s",
                "12\u00a0ms",
                "2\u00a0min 5\u00a0s",
                "1,5\u00a0GB",
            ],
        ),
        (
            "en",
            [
                "40,478.3",
                "91.2\u00a0%",
                "100\u00a0%",
                "2.3\u00a0s",
                "12\u00a0ms",
                "2\u00a0min 5\u00a0s",
                "1.5\u00a0GB",
            ],
        ),
    ],
)
def test_values_are_written_as_people_do(language: str, written: list[str]) -> None:
    spoken = Spoken(language)
    assert [
        spoken.number(40478.34, 1), spoken.share(0.912), spoken.share(1.0), spoken.seconds(2.31),
        spoken.seconds(0.012), spoken.seconds(125), spoken.bytes(1.5 * 2**30),
    ] == written  # fmt: skip
    assert spoken.seconds(None) == "–"
