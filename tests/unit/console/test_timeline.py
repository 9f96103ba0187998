"""The picture of a request's history: parallel work beside each other, long waits squeezed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from docproc.console.timeline import LABELS, MOST_BARS, WIDTH, Moment, Span, draw

BEGAN = datetime(2026, 11, 16, 16, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def span(row: str, began: float, ended: float, kind: str = "work") -> Span:
    return Span(row, at(began), at(ended), kind)


def test_stages_are_rows_and_parallel_units_lie_side_by_side() -> None:
    picture = draw(BEGAN, [span("split", 0, 1), span("ocr", 1, 3), span("ocr", 1, 2), span("ocr", 2, 3)], [])
    assert [(row.name, row.units) for row in picture.rows] == [("split", 1), ("ocr", 3)]
    split, long, first, second = picture.bars
    assert split.x == LABELS and long.x == first.x and second.x > first.x
    assert long.y != first.y and first.y == second.y  # the second follows where the first had ended
    assert max(bar.x + bar.width for bar in picture.bars) <= WIDTH
    assert picture.seconds == 3 and picture.pauses == []


def test_long_wait_is_squeezed_so_that_work_stays_visible() -> None:
    spans = [
        span("ocr", 0, 3),
        span("people", 3, 3600, "wait"),
        span("people", 3600, 3608, "person"),
        span("extract", 3608, 3610),
    ]
    picture = draw(BEGAN, spans, [Moment(at(3610), "answer", "v2"), Moment(at(30), "deadline", "deadline")])
    work = [bar for bar in picture.bars if bar.kind == "work"]
    assert len(picture.pauses) == 1 and picture.pauses[0].seconds == 3605
    assert work[0].width > 300 and work[1].width > 200
    deadline, answer = (
        next(one for one in picture.marks if one.kind == kind) for kind in ("deadline", "answer")
    )
    assert work[0].x + work[0].width < deadline.x < work[1].x and answer.is_left


def test_deadline_far_ahead_is_left_out() -> None:
    picture = draw(BEGAN, [span("ocr", 0, 3)], [Moment(at(3600), "deadline", "deadline")])
    assert picture.marks == [] and picture.seconds == 3


def test_many_units_are_one_bar_for_each_stretch() -> None:
    spans = [span("ocr", number / 100, number / 100 + 0.5) for number in range(MOST_BARS + 1)]
    picture = draw(BEGAN, spans, [])
    assert len(picture.bars) == 1 and picture.rows[0].units == MOST_BARS + 1


def test_under_way_the_picture_ends_now() -> None:
    assert draw(BEGAN, [span("split", 0, 1)], [], now=at(10)).seconds == 10
    assert draw(BEGAN, [span("split", 0, 0)], []).bars[0].width > 0
