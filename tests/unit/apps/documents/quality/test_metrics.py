"""The measures, against cases small enough to work out by hand."""

from __future__ import annotations

import pytest

from docproc.apps.documents.quality import metrics
from docproc.apps.documents.quality.metrics import Bin


@pytest.mark.parametrize(
    ("right", "found", "wanted", "expected"),
    [(3, 4, 6, 0.6), (0, 2, 2, 0.0), (5, 5, 5, 1.0), (0, 0, 3, 0.0), (0, 0, 0, None)],
)
def test_f1(right: int, found: int, wanted: int, expected: float | None) -> None:
    assert metrics.f1(right, found, wanted) == expected


def test_macro_f1_counts_every_true_type_alike() -> None:
    pairs = [("invoice", "invoice")] * 3 + [("receipt", "invoice"), ("other", "other")]
    # invoice 2·3/(4+3), receipt 0, other 1
    assert metrics.macro_f1(pairs) == pytest.approx((6 / 7 + 0 + 1) / 3)


def test_type_that_was_only_guessed_does_not_count_as_a_class() -> None:
    assert metrics.macro_f1([("invoice", "invoice"), ("invoice", "contract")]) == pytest.approx(2 / 3)


def test_ece_of_one_bin_is_the_gap_between_mean_confidence_and_accuracy() -> None:
    assert metrics.ece([0.8, 0.9, 0.7, 0.8], [True, True, False, True]) == pytest.approx(0.05)


def test_bins_have_equal_mass() -> None:
    confidences = [index / 100 for index in range(100)]
    bins = metrics.reliability(confidences, [index >= 50 for index in range(100)])
    assert [each.n for each in bins] == [20] * 5
    assert bins[0] == Bin(bins[0].confidence, 0.0, 20)
    assert bins[0].confidence == pytest.approx(0.095)
    assert bins[2].accuracy == 0.5
    # Gaps: .095, .295, .495−.5, .695−1, .895−1
    assert metrics.ece(confidences, [index >= 50 for index in range(100)]) == pytest.approx(
        (0.095 + 0.295 + 0.005 + 0.305 + 0.105) / 5
    )


def test_equal_confidences_stay_in_one_bin() -> None:
    confidences, right = [0.9] * 60 + [0.5] * 20, [True] * 54 + [False] * 6 + [True, False] * 10
    bins = metrics.reliability(confidences, right)
    assert [each.confidence for each in bins] == pytest.approx([0.5, 0.9])
    assert [each.n for each in bins] == [20, 60]
    assert metrics.ece(confidences, right) == pytest.approx(0.0)
    assert metrics.ece(confidences[::-1], right[::-1]) == pytest.approx(0.0)


def test_there_are_at_most_ten_bins() -> None:
    assert len(metrics.reliability([index / 5000 for index in range(5000)], [True] * 5000)) == 10


def test_without_answers_nothing_is_said() -> None:
    assert metrics.ece([], []) is None
    assert metrics.auroc([], []) is None
    assert metrics.automation([], [], 0.99) is None
    assert metrics.macro_f1([]) is None
    assert metrics.wilson(0, 0) is None


@pytest.mark.parametrize(
    ("confidences", "right", "expected"),
    [
        ([0.1, 0.4, 0.35, 0.8], [False, False, True, True], 0.75),
        ([0.9, 0.8, 0.2], [True, True, False], 1.0),
        ([0.2, 0.9], [True, False], 0.0),
        ([0.5, 0.5, 0.5, 0.5], [True, False, True, False], 0.5),
        ([0.5, 0.5, 0.9], [True, False, True], 0.75),
        ([0.9, 0.8], [True, True], None),
        ([0.9, 0.8], [False, False], None),
    ],
)
def test_auroc(confidences: list[float], right: list[bool], expected: float | None) -> None:
    assert metrics.auroc(confidences, right) == expected


def test_wilson_interval() -> None:
    assert metrics.wilson(90, 100) == pytest.approx((0.8256, 0.9448), abs=1e-4)
    low, high = metrics.wilson(10, 10) or (0, 0)
    assert low == pytest.approx(0.7225, abs=1e-4)
    assert high == pytest.approx(1.0)


def test_automation_takes_all_that_is_precise_enough() -> None:
    confidences = [0.99, 0.98, 0.97, 0.96, 0.5, 0.4]
    right = [True, True, False, True, False, True]
    at_75 = metrics.automation(confidences, right, 0.75)
    assert at_75 is not None
    assert at_75.share == pytest.approx(4 / 6)
    assert (at_75.threshold, at_75.accepted) == (0.96, 4)
    assert at_75.precision == 0.75
    at_99 = metrics.automation(confidences, right, 0.99)
    assert at_99 is not None
    assert at_99.share == pytest.approx(2 / 6)
    assert at_99.threshold == 0.98
    assert at_99.interval[0] <= at_99.share <= at_99.interval[1]


def test_threshold_cannot_part_equal_confidences() -> None:
    found = metrics.automation([0.9, 0.9, 0.9], [True, True, False], 0.99)
    assert found is not None
    assert (found.share, found.threshold, found.precision) == (0.0, None, None)


def test_what_is_not_sure_at_all_never_goes_through() -> None:
    found = metrics.automation([0.9, 0.0], [True, True], 0.99)
    assert found is not None
    assert (found.share, found.threshold) == (0.5, 0.9)


def test_automation_says_the_same_twice() -> None:
    confidences, right = [index / 50 for index in range(50)], [index % 7 != 0 for index in range(50)]
    assert metrics.automation(confidences, right, 0.95) == metrics.automation(confidences, right, 0.95)


def test_proof_of_99_percent_takes_299_right_ones() -> None:
    assert metrics.needed(0.99) == 299
    assert metrics.needed(0.95) == 59
