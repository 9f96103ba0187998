"""Corrections become labels: the last word counts, and what nobody looked at stays unlabelled."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from docproc.apps.documents.quality.exporting import labels
from docproc.apps.documents.tables import Correction

REQUEST = UUID("0a5c2f4e-0000-4000-8000-000000000001")


def correction(**values: Any) -> Correction:
    given = {
        "request_id": REQUEST,
        "blob_key": f"{REQUEST}/uploads/0/a.pdf",
        "file_name": "a.pdf",
        "doc_type": "invoice",
        "subject": "field",
        "field": "total_amount",
        "file_pages": [0],
    }
    return Correction(**{**given, **values})


def documents(*rows: Correction) -> list[dict[str, Any]]:
    (file,) = labels(rows)
    found: list[dict[str, Any]] = file.line()["documents"]
    return found


def test_later_value_replaces_an_earlier_one() -> None:
    made = documents(correction(value_after="1.00"), correction(value_after="2.00"))
    assert made == [{"doc_type": "invoice", "page_indices": [0], "fields": {"total_amount": "2.00"}}]


def test_value_that_is_not_there_is_labelled_as_such() -> None:
    assert documents(correction(value_after=None))[0]["fields"] == {"total_amount": None}


def test_type_that_was_said_holds_and_fields_add_up() -> None:
    said = correction(subject="type", field="", doc_type="invoice")
    made = documents(
        correction(doc_type="receipt", field="date", value_after="2026-03-12"),
        said,
        correction(doc_type="receipt", field="vendor_name", value_after="Vega"),
        said,
        correction(value_after="1.00"),
    )
    (document,) = made
    assert document["doc_type"] == "invoice"
    assert document["fields"] == {"date": "2026-03-12", "vendor_name": "Vega", "total_amount": "1.00"}


def test_regrouped_pages_drop_what_was_said_of_the_old_group() -> None:
    together = correction(file_pages=[0, 1], value_after="1.00")
    apart = [correction(subject="split", field="", file_pages=[page]) for page in (0, 1)]
    made = documents(together, apart[0], apart[1], correction(file_pages=[1], value_after="2.00"))
    assert [(each["page_indices"], each["fields"]) for each in made] == [
        ([0], {}),
        ([1], {"total_amount": "2.00"}),
    ]


def test_neighbouring_pages_of_which_only_the_type_is_known_are_one_document() -> None:
    pages = [correction(subject="type", field="", doc_type="contract", file_pages=[n]) for n in (0, 1, 3)]
    assert [each["page_indices"] for each in documents(*pages)] == [[0, 1], [3]]


def test_files_of_one_name_are_told_apart() -> None:
    other = correction(blob_key=f"{REQUEST}/uploads/1/a.pdf", value_after="1.00")
    names = [file.name for file in labels([correction(value_after="1.00"), other])]
    assert len(set(names)) == 2 and all(name.endswith("a.pdf") for name in names)


def test_file_whose_pages_are_unknown_is_left_out() -> None:
    assert labels([correction(blob_key=None), correction(file_pages=[])]) == []


def test_beginning_of_a_document_is_no_label_of_its_pages() -> None:
    known = correction(file_pages=[0], value_after="1.00")
    begins = correction(subject="split", field="", doc_type="", file_pages=[0, 1], value_after="true")
    (document,) = documents(known, begins)
    assert (document["page_indices"], document["fields"]) == ([0], {"total_amount": "1.00"})
