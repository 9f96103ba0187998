"""Grouping: consecutive pages of one type in one file are one document."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from docproc.apps.documents.components.page_groups import group_pages
from docproc.apps.documents.tables import PageStatus

OPEN = "?"  # not classified yet


def pages(*types: str) -> list[Any]:
    """`invoice`, or `1:invoice` for a page of file 1."""
    rows = []
    for index, spec in enumerate(types):
        file_index, _, kind = spec.rpartition(":")
        rows.append(
            SimpleNamespace(
                page_index=index,
                file_index=int(file_index or 0),
                status=PageStatus.PENDING_OCR if kind == OPEN else PageStatus.CLASSIFIED,
                doc_type=None if kind == OPEN else kind,
                marks={"blank": True} if kind == "B" else None,
                origin="AUTO",
                classification_confidence=0.95,
            )
        )
    return rows


@pytest.mark.parametrize(
    ("types", "documents"),
    [
        (("invoice",), [("invoice", (0,))]),
        (
            ("invoice", "invoice", "id_card", "payslip", "payslip"),
            [("invoice", (0, 1)), ("id_card", (2,)), ("payslip", (3, 4))],
        ),
        (
            ("invoice", "id_card", "invoice"),
            [("invoice", (0,)), ("id_card", (1,)), ("invoice", (2,))],
        ),
        (("0:invoice", "1:invoice"), [("invoice", (0,)), ("invoice", (1,))]),
        (("invoice", OPEN, "invoice"), [("invoice", (0,)), ("invoice", (2,))]),
        ((), []),
        ((OPEN, OPEN), []),
    ],
)
def test_pages_become_documents(types: tuple[str, ...], documents: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(g.doc_type, g.page_indices) for g in group_pages(pages(*types))] == documents


@pytest.mark.parametrize(
    ("types", "final"),
    [
        (("invoice", "id_card", OPEN), [True, False]),
        ((OPEN, "invoice", "id_card", "id_card"), [False, True]),
        (("invoice", "invoice", OPEN), [False]),
        (("0:invoice", f"1:{OPEN}"), [True]),
        (("a", "b", "c"), [True, True, True]),
    ],
)
def test_document_is_final_once_its_neighbours_are_known(types: tuple[str, ...], final: list[bool]) -> None:
    assert [group.is_final for group in group_pages(pages(*types))] == final


def test_a_final_document_stays_whatever_the_open_pages_turn_out_to_be() -> None:
    """For every order in which four pages become known, what was final is in the end result."""
    from itertools import permutations, product

    for truth in product("abB", repeat=4):
        whole = {(g.doc_type, g.page_indices) for g in group_pages(pages(*truth))}
        for order in permutations(range(4)):
            known: set[int] = set()
            for index in order:
                known.add(index)
                seen = [kind if place in known else OPEN for place, kind in enumerate(truth)]
                early = {(g.doc_type, g.page_indices) for g in group_pages(pages(*seen)) if g.is_final}
                assert early <= whole


def test_pages_that_say_so_begin_a_document_of_their_own() -> None:
    rows = pages("invoice", "invoice", "invoice", "invoice")
    for row, marks in zip(
        rows, ({"page": 1, "of": 2}, {"page": 2, "of": 2}, {"number": "a"}, {"number": "b"}), strict=True
    ):
        row.marks = marks
    assert [g.page_indices for g in group_pages(rows)] == [(0, 1), (2,), (3,)]
    rows[1].marks = {"page": 2, "of": 2, "begins": True}  # a person's word
    assert [g.page_indices for g in group_pages(rows)] == [(0,), (1,), (2,), (3,)]
    assert all(g.is_final for g in group_pages(rows))


def test_given_type_makes_each_file_one_document() -> None:
    rows = pages("0:?", "0:?", "1:?")
    for row in rows:
        row.status = PageStatus.READ
    assert [(g.doc_type, g.page_indices) for g in group_pages(rows, "invoice")] == [
        ("invoice", (0, 1)),
        ("invoice", (2,)),
    ]
