"""early_answer: refused, with the line, where it could never hold."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from docproc.apps.documents.schemas import early_answer_of
from docproc.engine.workflow.definition import Workflow
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.errors import WorkflowError
from tests.unit.engine.workflow.flows import COMPONENTS, MODEL, TOPOLOGY

FLOW = """\
    name: flow
    early_answer:
      types:
        - id_card
        - LAST
    stages:
      - {name: only, component: work}
    extraction_schemas:
      id_card: {fields: [{name: number, required: true}]}
      payslip: {fields: []}
"""


def load(folder: Path, text: str) -> Workflow:
    (folder / "flow.yaml").write_text(textwrap.dedent(text), encoding="utf-8")
    return WorkflowLoader(folder, COMPONENTS, TOPOLOGY, model=MODEL).load("flow")


def test_types_with_a_schema_are_accepted(tmp_path: Path) -> None:
    flow = load(tmp_path, FLOW.replace("LAST", "payslip"))
    early = early_answer_of(flow)
    assert early is not None and early.types == ("id_card", "payslip")


@pytest.mark.parametrize(
    ("last", "line", "said"),
    [
        ("paislip", 5, "no extraction schema is called 'paislip'; there are id_card, payslip"),
        ("id_card", 3, "these types are listed twice: id_card"),
    ],
)
def test_types_that_can_never_come_are_refused_with_their_line(
    tmp_path: Path, last: str, line: int, said: str
) -> None:
    with pytest.raises(WorkflowError) as caught:
        load(tmp_path, FLOW.replace("LAST", last))
    assert caught.value.line == line
    assert said in str(caught.value) and caught.value.remedy


def test_empty_list_of_types_is_refused(tmp_path: Path) -> None:
    text = FLOW.replace("      types:\n        - id_card\n        - LAST\n", "      types: []\n")
    with pytest.raises(WorkflowError, match=r"early_answer\.types"):
        load(tmp_path, text)


def test_flow_without_it_keeps_its_version() -> None:
    """Requests under way keep their version: the new key must not change what it is computed from."""
    plain = {"name": "flow", "stages": [{"name": "only", "component": "work"}]}
    told = MODEL.model_validate({**plain, "early_answer": None})
    assert told.content_version == MODEL.model_validate(plain).content_version
    assert b"early_answer" not in told.model_dump_json(exclude_none=True).encode()
