"""Labels against answers: which documents belong together, what counts, and where a mistake came from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from docproc.apps.documents.quality.labels import LabelledDocument, LabelledFile
from docproc.apps.documents.quality.measure import Cause, FieldVerdict, FileVerdict, judge, match
from docproc.apps.documents.quality.summary import summarise
from docproc.apps.documents.quality.understand import FoundDocument, FoundPage, Understood
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.reading.page import Box, PageText, Source, Word, pack

SCHEMAS = {
    "receipt": (
        FieldSpec("vendor_name"),
        FieldSpec("date", "date"),
        FieldSpec("total_amount", "decimal", required=True),
    ),
    "invoice": (FieldSpec("invoice_number"), FieldSpec("total_amount", "decimal")),
}
TEXT = ("TIENDA PEPA S.L.", "25/12/2018 10:31", "BASE 8,26", "TOTAL 9,00")


def box_of(line: int) -> Box:
    return 0.1, line / 10, 0.9, line / 10 + 0.05


def words(lines: Sequence[str]) -> bytes:
    found = [
        Word(text, (0.1 + 0.2 * place, number / 10, 0.25 + 0.2 * place, number / 10 + 0.05), 0.9, number)
        for number, line in enumerate(lines)
        for place, text in enumerate(line.split())
    ]
    return pack(PageText(tuple(found), Source.OCR))


def page(doc_type: str = "receipt", confidence: float = 0.9, lines: Sequence[str] = TEXT) -> FoundPage:
    return FoundPage(doc_type, confidence, words(lines), 0, 1.0, 0.01)


def document(
    doc_type: str = "receipt", pages: tuple[int, ...] = (0,), **values: tuple[str, float, int]
) -> FoundDocument:
    """Values as (value, confidence, line)."""
    fields: dict[str, FieldValue | None] = {
        name: FieldValue(value, confidence, Source.OCR, 0, box_of(line))
        for name, (value, confidence, line) in values.items()
    }
    return FoundDocument(doc_type, pages, 0.95, fields, 0.02)


def labelled(
    doc_type: str = "receipt", pages: tuple[int, ...] = (0,), **fields: str | None
) -> LabelledDocument:
    return LabelledDocument(doc_type=doc_type, page_indices=pages, fields=fields)


def judged(
    truth: Sequence[LabelledDocument], found: Sequence[FoundDocument], pages: Sequence[FoundPage] = (page(),)
) -> FileVerdict:
    labels = LabelledFile(file="a.jpg", documents=tuple(truth))
    return judge(Path("a.jpg"), labels, Understood(tuple(pages), tuple(found)), SCHEMAS)


def field(verdict: FileVerdict) -> FieldVerdict:
    ((one,),) = (document.fields for document in verdict.documents)
    return one


# --- which belong together -------------------------------------------------------------------------------


def test_same_pages_match_before_same_type() -> None:
    truth = [labelled("invoice", (0, 1)), labelled("receipt", (2,))]
    found = [document("invoice", (0, 1, 2)), document("receipt", (0, 1))]
    assert match(truth, found) == [(truth[0], found[1]), (truth[1], found[0])]


def test_of_two_parts_the_larger_belongs_to_the_document_then_the_one_of_its_type() -> None:
    truth = [labelled("invoice", (0, 1, 2))]
    parts = [document("invoice", (0,)), document("invoice", (1, 2))]
    assert match(truth, parts) == [(truth[0], parts[1])]
    halves = [document("other", (0,)), document("invoice", (1,))]
    assert match([labelled("invoice", (0, 1))], halves)[0][1] is halves[1]


def test_two_documents_taken_for_one_leave_one_without_an_answer() -> None:
    truth = [labelled("receipt", (0,)), labelled("receipt", (1,))]
    one = document("receipt", (0, 1))
    assert [answer for _, answer in match(truth, [one])] == [one, None]


# --- what counts -----------------------------------------------------------------------------------------


def test_right_value_is_right_and_an_unlabelled_one_ignored() -> None:
    found = document(total_amount=("9.00", 0.8, 3), vendor_name=("Nobody", 0.9, 0))
    verdict = judged([labelled(total_amount="9")], [found])
    assert field(verdict).right
    assert verdict.documents[0].right
    summary = summarise([verdict])
    assert summary["fields"]["f1"] == 1.0
    assert summary["fields"]["by_type"] == {
        "receipt": {"total_amount": {"f1": 1.0, "n": 1, "precision": 1.0, "recall": 1.0, "similarity": 1.0}}
    }


def test_value_where_the_label_says_absent_costs_precision() -> None:
    found = document(total_amount=("9.00", 0.8, 3), vendor_name=("Nobody", 0.9, 0))
    verdict = judged([labelled(total_amount="9.00", vendor_name=None, date="")], [found])
    causes = {one.name: one.cause for one in verdict.documents[0].fields}
    assert causes == {"date": None, "total_amount": None, "vendor_name": Cause.INVENTED}
    scores = summarise([verdict])["fields"]
    assert (scores["precision"], scores["recall"], scores["n"]) == (0.5, 1.0, 1)


def test_right_value_counts_although_the_type_is_wrong() -> None:
    verdict = judged(
        [labelled("invoice", total_amount="9.00", invoice_number="31")],
        [document(total_amount=("9.00", 0.8, 3))],
    )
    causes = {one.name: one.cause for one in verdict.documents[0].fields}
    assert causes == {"total_amount": None, "invoice_number": Cause.TYPE}
    assert not verdict.pages[0].right
    assert not verdict.documents[0].right


def test_document_is_as_sure_as_its_least_sure_part() -> None:
    truth = labelled(total_amount="9.00", vendor_name="Tienda Pepa SL")
    sure: dict[str, Any] = {"total_amount": ("9.00", 0.8, 3)}
    assert judged([truth], [document(**sure)]).documents[0].confidence == 0.8
    assert judged([truth], [document(**sure)], [page(confidence=0.7)]).documents[0].confidence == 0.7
    # A person would be asked for a required field, not for another.
    without = document(vendor_name=("Tienda Pepa, S.L.", 0.9, 0))
    assert judged([truth], [without]).documents[0].confidence == 0.0


def test_value_that_failed_a_check_does_not_go_straight_through() -> None:
    doubted = FieldValue("9.00", 0.9, Source.OCR, 0, box_of(3), reason=Reason(Code.RULE_BROKEN))
    found = FoundDocument("receipt", (0,), 0.95, {"total_amount": doubted}, 0.02)
    verdict = judged([labelled(total_amount="9.00")], [found])
    assert verdict.documents[0].right
    assert verdict.documents[0].confidence == 0.0
    summary = summarise([verdict])
    assert (summary["automation"]["at_99"], summary["automation"]["fields_at_99"]) == (0.0, 0.0)
    assert summary["calibration"]["extraction"]["bins"][0]["confidence"] == 0.9


def test_pages_take_the_type_of_their_document() -> None:
    verdict = judged(
        [labelled("invoice", (0, 1))], [document("invoice", (0, 1))], [page("invoice"), page("other")]
    )
    assert [one.right for one in verdict.pages] == [True, True]


def test_split_f1_counts_exact_sets_of_pages() -> None:
    truth = [labelled("invoice", (0, 1)), labelled("receipt", (2,)), labelled("receipt", (3,))]
    found = [document("invoice", (0, 1)), document("other", (2,)), document("receipt", (3, 4))]
    summary = summarise([judged(truth, found, [page()] * 5)])
    # Page 4 is unlabelled. All three sets are right, two with their type.
    assert summary["documents"]["split_f1"] == 1.0
    assert summary["documents"]["typed_split_f1"] == pytest.approx(2 / 3, abs=1e-4)
    apart = [document("invoice", (0,)), document("invoice", (1,)), document("receipt", (2, 3))]
    assert summarise([judged(truth, apart, [page()] * 4)])["documents"]["split_f1"] == 0.0


def test_file_that_cannot_be_read_is_all_wrong() -> None:
    labels = LabelledFile(file="a.jpg", documents=(labelled(total_amount="9.00"),))
    verdict = judge(Path("a.jpg"), labels, Understood(problem="it is damaged"), SCHEMAS)
    summary = summarise([verdict])
    assert summary["pages"] | {"accuracy_ci": None} == {
        "n": 1, "accuracy": 0.0, "accuracy_ci": None, "macro_f1": 0.0, "confusion": {"receipt → none": 1},
    }  # fmt: skip
    assert (summary["fields"]["f1"], summary["errors"]) == (0.0, {"unread": 1})
    assert summary["problems"] == ["a.jpg: it is damaged"]
    assert summary["cpu_s_per_page"] is None


def test_label_of_a_page_that_is_not_there_is_pointed_out() -> None:
    verdict = judged([labelled(), labelled("invoice", (1,))], [document()])
    assert verdict.problem == "the labels name page 2, but it has 1: correct labels.jsonl"


# --- causes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "value", "cause"),
    [
        ({"total_amount": "9.10"}, ("9.00", 0.8, 3), Cause.OCR),
        ({"total_amount": "9.00"}, None, Cause.CANDIDATE),
        ({"total_amount": "9.00"}, ("8.26", 0.8, 2), Cause.RANKING),
        ({"total_amount": "9.00"}, ("900.00", 0.8, 3), Cause.NORMALISATION),
        ({"date": "2018-12-25"}, ("2018-10-31", 0.8, 1), Cause.NORMALISATION),
        ({"vendor_name": "Tienda Pepa"}, ("TIENDA", 0.8, 3), Cause.RANKING),
        ({"vendor_name": "Tienda Pepa S.L."}, ("TIENDAPEPA SL", 0.8, 0), Cause.OCR),
    ],
)
def test_cause(truth: dict[str, Any], value: tuple[str, float, int] | None, cause: Cause) -> None:
    (name,) = truth
    values: dict[str, Any] = {name: value} if value else {}
    found = field(judged([labelled(**truth)], [document(**values)]))
    assert found.cause is cause
    assert (found.seen_at is None) == (truth == {"total_amount": "9.10"}), "the only one that cannot be read"


def test_wrong_pages_are_the_cause_before_anything_on_them() -> None:
    verdict = judged([labelled(total_amount="9.10")], [document(pages=(0, 1))], [page(), page()])
    assert field(verdict).cause is Cause.SPLIT


# --- warnings --------------------------------------------------------------------------------------------


def verdicts(right: int, wrong: int, confidence_of_wrong: float) -> list[FileVerdict]:
    good = judged([labelled(total_amount="9.00")], [document(total_amount=("9.00", 0.8, 3))])
    bad = judged([labelled(total_amount="9.00")], [document(total_amount=("8.26", confidence_of_wrong, 2))])
    return [good] * right + [bad] * wrong


def test_stage_that_cannot_tell_right_from_wrong_is_named() -> None:
    (warning,) = summarise(verdicts(20, 10, 0.9))["warnings"]
    assert warning.startswith("extraction may not decide alone")
    assert summarise(verdicts(20, 10, 0.3))["warnings"] == []
    assert summarise(verdicts(20, 9, 0.9))["warnings"] == [], "too few to say"


def test_few_documents_prove_nothing() -> None:
    few = summarise(verdicts(20, 10, 0.3))["automation"]
    assert (few["at_99"], few["at_99_threshold"]) == (pytest.approx(2 / 3, abs=1e-4), 0.8)
    assert "299" in few["note"]
    assert "note" not in summarise(verdicts(299, 1, 0.3))["automation"]
