"""What is in doubt about a document: its least sure page, its least sure boundary, and what is below."""

from __future__ import annotations

from pathlib import Path

import pytest

from docproc.app import App
from docproc.apps.documents.components import doubts
from docproc.apps.documents.components.doubts import Standing, Thresholds
from docproc.apps.documents.schemas import schemas_of
from docproc.engine.workflow.definition import WhenNoTime
from tests.harness import settings_for

WORKFLOWS = Path(__file__).parents[5] / "config" / "workflows"
BLANK = {"blank": True}


def test_documents_are_as_sure_as_their_least_sure_page_that_says_something() -> None:
    assert doubts.type_confidence([(0.9, {}), (0.6, {}), (0.2, BLANK)]) == 0.6
    assert doubts.type_confidence([(0.2, BLANK)]) == 0.2
    assert doubts.type_confidence([]) == 1.0


@pytest.mark.parametrize(
    ("begins", "after", "sure"),
    [
        ((1.0,), 1.0, 1.0),
        ((0.7, 0.1), 1.0, 0.7),
        ((1.0, 0.4), 1.0, 0.6),
        ((1.0, 0.1), 0.55, 0.55),  # what comes after it may belong to it
    ],
)
def test_boundaries_count_where_a_document_begins_goes_on_and_ends(
    begins: tuple[float, ...], after: float, sure: float
) -> None:
    assert doubts.boundary_confidence(begins, after) == pytest.approx(sure)


def test_what_is_below_its_own_threshold_is_named() -> None:
    row = Standing(0.79, 0.79).row(Thresholds(doc_type=0.8, boundary=0.75))
    assert row == {"doc_type_confidence": 0.79, "boundary_confidence": 0.79, "doubts": ["doc_type"]}
    assert Standing(0.79996, 0.1).row(Thresholds(0.8, 0.2))["doubts"] == ["boundary"], "as it is shown"
    assert doubts.named(["boundary"], ["total"]) == ["boundary", "total"]
    assert doubts.named(None, None) == []


@pytest.mark.parametrize("name", ["default", "hipotecas"])
def test_packaged_workflows_ask_where_documents_begin(name: str, tmp_path: Path) -> None:
    flow = App(settings_for(tmp_path, workflows_dir=WORKFLOWS, components={})).loader.load(name)
    (grouping,) = [stage for stage in flow.stages if stage.component == "classification_aggregator"]
    assert grouping.backoffice_queue == "task.classification"
    # Without people `default` answers, marked; `hipotecas` waits.
    assert (grouping.when_no_time is WhenNoTime.WAIT) == (name == "hipotecas")
    parties = [field for field in schemas_of(flow)["contract"].fields if field.name.startswith("party")]
    assert [field.required for field in parties] == [True, True]
