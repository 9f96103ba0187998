"""Requests of documents in a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from docproc.apps.documents.cli.view import view
from docproc.terminal.view import load_views


def counts(
    pages: int | None = None,
    read: int | None = None,
    classified: int | None = None,
    documents: int | None = None,
    done: int | None = None,
) -> dict[str, Any]:
    return {
        "pages_total": pages,
        "pages_read": read,
        "pages_classified": classified,
        "documents_total": documents,
        "documents_done": done,
    }


@pytest.mark.parametrize(
    ("given", "share", "said"),
    [
        (counts(), None, ""),
        (counts(4), None, "4 pages"),
        (counts(4, 2, 1), 3 / 9, "read 2/4 · classified 1/4"),
        (counts(4, 4, 4, 2, 1), 9 / 10, "read 4/4 · classified 4/4 · documents 1/2"),
        (counts(4, 4, 4, 2, 2), 1.0, "read 4/4 · classified 4/4 · documents 2/2"),
        (counts(1, 1, 0), 1 / 3, "read 1/1 · classified 0/1"),
    ],
)
def test_share_and_counts_follow_pages_and_documents(
    given: dict[str, Any], share: float | None, said: str
) -> None:
    assert view.progress(given) == (share, said)


def test_requests_of_others_are_left_to_them() -> None:
    other = {"page_count": None, "result": {"frames": 3}}
    assert view.answer("film.mp4", other) is None
    assert view.progress({"stages": []}) is None
    assert view.total([other]) == ""


def test_pages_are_summed() -> None:
    assert view.total([{"page_count": 2}, {"page_count": None}, {"page_count": 3}]) == "5 pages"


def test_the_manifest_names_the_view() -> None:
    assert view in load_views().views
