import numpy
import pytest

from docproc.reading.ocr import canvas
from docproc.reading.ocr.canvas import Pixels


def page(*bars: tuple[int, int, int, int]) -> Pixels:
    """White, 900 by 1280, with black bars (x0, y0, x1, y1): the size at which nothing is scaled."""
    pixels = numpy.full((1280, 900, 3), 255, numpy.uint8)
    for x0, y0, x1, y1 in bars:
        pixels[y0:y1, x0:x1] = 0
    return pixels


def test_blank_page_has_no_canvas() -> None:
    assert canvas.prepare(page()) is None


def test_grain_of_the_paper_is_blank() -> None:
    chance = numpy.random.default_rng(1)
    grainy = page().astype(numpy.float64) - 20 + chance.normal(0, 4, (1280, 900, 1))
    assert canvas.prepare(grainy.clip(0, 255).astype(numpy.uint8)) is None


def test_blank_parts_are_left_out_and_print_is_put_back_in_its_place() -> None:
    bars = [(200, 100, 500, 112), (300, 900, 700, 912)]
    prepared = canvas.prepare(page(*bars))
    assert prepared is not None
    height, width = prepared.ink.shape
    assert height < 100 and width < 600
    for x0, y0, x1, y1 in bars:
        rows = numpy.nonzero((prepared.rows >= y0) & (prepared.rows < y1))[0]
        assert (prepared.pixels[rows, x0 - prepared.left : x1 - prepared.left] == 0).all()
        top, left, right = rows[0], x0 - prepared.left, x1 - prepared.left
        found = numpy.array([[left, top], [right, top], [right, top + 12], [left, top + 12]])
        assert prepared.on_page(found).tolist() == [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


def test_rim_of_a_title_over_left_out_rows_stays_with_the_title() -> None:
    prepared = canvas.prepare(page((100, 100, 800, 200), (100, 1000, 800, 1012)))
    assert prepared is not None
    top = int(numpy.nonzero(prepared.rows == 100)[0][0])
    box = numpy.array([[0, top - 40], [700, top - 40], [700, top + 140], [0, top + 140]])
    placed = prepared.on_page(box)
    assert placed[:, 1].min() == 60 and placed[:, 1].max() == 240


@pytest.mark.parametrize("gap", [12, 0])
def test_strips_together_are_the_canvas(gap: int) -> None:
    """Cut between lines where there is a blank row, through print with an overlap where there is none."""
    bars = [(x, y, x + 20, y + 30 - gap) for y in range(20, 1250, 30) for x in range(50, 850, 30)]
    prepared = canvas.prepare(page(*bars))
    assert prepared is not None
    shapes = []

    def darkness(strip: Pixels) -> Pixels:
        shapes.append(strip.shape)
        return numpy.asarray(255.0 - strip[:, :, 0])

    found = canvas.in_strips(prepared, darkness)
    assert (found == 255 - prepared.pixels[:, :, 0].astype(float)).all()
    assert len(shapes) == 2 and all(side % 64 == 0 for height, width, _ in shapes for side in (height, width))
    assert all(height <= 768 for height, _, _ in shapes)


def test_print_seen_far_from_any_ink_does_not_count() -> None:
    """On a strip that is nearly blank the detector may see print everywhere."""
    prepared = canvas.prepare(page((50, 40, 850, 60), (0, 100, 8, 1280)))  # a line, and the paper's edge
    assert prepared is not None
    found = canvas.in_strips(prepared, lambda strip: numpy.ones(strip.shape[:2], numpy.float32))
    rows = prepared.rows
    assert found[(rows >= 40) & (rows < 60), 50:850].all()
    assert not found[rows >= 100, 100:].any()
