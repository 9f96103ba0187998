"""What a supervisor's word on pages comes to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from docproc.apps.documents.review import grouping
from docproc.apps.documents.review.grouping import Said
from docproc.engine.workflow.definition import Stage, Workflow
from docproc.errors import InvalidAnswerError

FLOW = Workflow(name="flow", stages=(Stage(name="one", component="work"),))
# Two files, of three pages and one; the first is two documents.
PAGES: Any = [
    SimpleNamespace(page_index=index, file_index=file, doc_type=kind)
    for index, file, kind in ((0, 0, "invoice"), (1, 0, "other"), (2, 0, "receipt"), (3, 1, "contract"))
]
DOCUMENTS: Any = [
    SimpleNamespace(doc_type=kind, page_indices=indices)
    for kind, indices in (("invoice", [0, 1]), ("receipt", [2]), ("contract", [3]))
]


def plan(said: Said) -> grouping.Grouping:
    return grouping.plan(uuid4(), PAGES, DOCUMENTS, said, FLOW)


CASES: list[tuple[Said, list[tuple[tuple[int, ...], str]], list[str]]] = [
    (Said(), [((0, 1), "invoice"), ((2,), "receipt"), ((3,), "contract")], []),
    (Said({2: False}), [((0, 1, 2), "invoice"), ((3,), "contract")], ["begins:2"]),
    (
        Said({1: True}),
        [((0,), "invoice"), ((1,), "other"), ((2,), "receipt"), ((3,), "contract")],
        ["begins:1"],
    ),
    (
        Said({1: True}, {1: "payslip"}),
        [((0,), "invoice"), ((1,), "payslip"), ((2,), "receipt"), ((3,), "contract")],
        ["begins:1", "doc_type:1"],
    ),
    (
        Said(types={0: "payslip"}),
        [((0, 1), "payslip"), ((2,), "receipt"), ((3,), "contract")],
        ["doc_type:0"],
    ),
    # A type of a page inside a document says nothing.
    (Said(types={1: "payslip"}), [((0, 1), "invoice"), ((2,), "receipt"), ((3,), "contract")], []),
]


@pytest.mark.parametrize(("said", "groups", "changes"), CASES)
def test_pages_are_grouped_as_said(
    said: Said, groups: list[tuple[tuple[int, ...], str]], changes: list[str]
) -> None:
    found = plan(said)
    assert [(group.indices, group.doc_type) for group in found.groups] == groups
    assert [change["what"] for change in found.changes] == changes
    assert set(found.begins) == {1, 2}, "every boundary inside a file is said, so that none moves by itself"


def test_all_pages_of_a_retyped_document_get_its_type() -> None:
    rows = plan(Said(types={0: "payslip"})).page_rows()
    assert [row["doc_type"] for row in rows] == ["payslip", "payslip"]


@pytest.mark.parametrize("said", [Said({3: False}), Said({9: True}), Said(types={0: "spaceship"})])
def test_what_cannot_be_is_refused_by_page(said: Said) -> None:
    with pytest.raises(InvalidAnswerError) as refused:
        plan(said)
    assert list(refused.value.problems) == [f"page.{next(iter({**said.begins, **said.types}))}"]
