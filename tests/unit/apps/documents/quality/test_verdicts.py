"""New weights are kept when they are better and worse for no type."""

from __future__ import annotations

import pytest

from docproc.apps.documents.quality.verdicts import Figure, decide, of_classifier, of_extraction


def figure(before: float, after: float, n: int = 100, lower: bool = False) -> Figure:
    return Figure("it", before, after, n, lower)


SAME = figure(0.9, 0.9)


@pytest.mark.parametrize(
    ("main", "beside", "by_type", "news", "kept", "why"),
    [
        (figure(0.90, 0.93), [], [], [], True, "better"),
        (figure(0.93, 0.90, n=10), [], [], [], False, "not better"),
        (SAME, [], [], [], False, "no better"),
        # A type that fell outweighs a better whole …
        (figure(0.90, 0.95), [], [figure(0.9, 0.8)], [], False, "worse"),
        # … unless it fell by a single page.
        (figure(0.90, 0.95), [], [figure(1.0, 0.9, n=10)], [], True, "better"),
        (figure(0.90, 0.93), [figure(0.05, 0.10, lower=True)], [], [], True, "but worse: it 0.050 → 0.100"),
        (SAME, [figure(0.10, 0.05, lower=True)], [], [], True, "confidences"),
        (SAME, [figure(0.10, 0.05, lower=True), figure(0.9, 0.8)], [], [], False, "no better"),
        (SAME, [figure(0.05, 0.10, lower=True)], [], [], False, "no better"),
        (SAME, [], [], ["policy"], True, "knows policy"),
        (SAME, [], [figure(0.9, 0.5)], ["policy"], False, "worse"),
        (figure(0.90, 0.80), [], [], ["policy"], False, "worse"),
    ],
)
def test_decision(
    main: Figure, beside: list[Figure], by_type: list[Figure], news: list[str], kept: bool, why: str
) -> None:
    decision = decide(main, beside, by_type, news)
    assert (decision.kept, why in decision.why) == (kept, True), decision


def test_figures_of_the_classifier_come_from_the_evaluation() -> None:
    def summary(right: int) -> dict[str, object]:
        return {
            "pages": {"n": 10, "accuracy": right / 10},
            "documents": {"n": 5, "split_f1": 0.8},
            "calibration": {"classification": {"ece": None}},
            "by_type_pages": {"invoice": (right, 8), "other": (2, 2)},
        }

    main, beside, by_type = of_classifier(summary(5), summary(7))
    assert (main.before, main.after, main.n) == (0.5, 0.7, 10)
    assert [each.gain for each in beside] == [0.0, 0.0]
    assert {each.name: round(each.gain, 3) for each in by_type} == {
        "pages of invoice": 0.25,
        "pages of other": 0.0,
    }


def test_figures_of_extraction_come_from_the_evaluation() -> None:
    def summary(f1: float) -> dict[str, object]:
        fields = {"f1": f1, "n": 9, "f1_by_type": {"invoice": f1}, "by_type": {"invoice": {"date": {"n": 9}}}}
        return {"fields": fields, "calibration": {"extraction": {"ece": 0.1}}}

    main, _, by_type = of_extraction(summary(0.9), summary(0.6))
    assert round(main.gain, 3) == -0.3
    assert [(each.name, each.n, each.is_regression) for each in by_type] == [("fields of invoice", 9, True)]
