import io
from pathlib import Path

import numpy
import pikepdf
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from docproc.errors import PermanentError
from docproc.reading import rendering
from tests.unit.reading import drawing


def darkest_quarter(image: Image.Image) -> str:
    grey = numpy.asarray(image.convert("L"))
    half_down, half_across = grey.shape[0] // 2, grey.shape[1] // 2
    quarters = {
        "top left": grey[:half_down, :half_across],
        "top right": grey[:half_down, half_across:],
        "bottom left": grey[half_down:, :half_across],
        "bottom right": grey[half_down:, half_across:],
    }
    return min(quarters, key=lambda name: float(quarters[name].mean()))


def with_mark(size: tuple[int, int] = (60, 80)) -> Image.Image:
    """White with a dark top left quarter."""
    image = Image.new("RGB", size, "white")
    image.paste((0, 0, 0), (0, 0, size[0] // 2, size[1] // 2))
    return image


def test_pdf_page_is_drawn_at_the_resolution_asked_for(tmp_path: Path) -> None:
    image = rendering.page_image(drawing.digital(tmp_path / "a.pdf"), 0, dpi=100)
    assert image.mode == "RGB"
    assert image.size == (827, 1170)


def test_rotate_entry_is_honoured(tmp_path: Path) -> None:
    upright = rendering.page_image(drawing.digital(tmp_path / "a.pdf", ["Hola"]), 0, dpi=50)
    turned = rendering.page_image(drawing.digital(tmp_path / "b.pdf", ["Hola"], rotate=90), 0, dpi=50)
    assert turned.size == upright.size[::-1]
    assert darkest_quarter(upright) == "top left"
    assert darkest_quarter(turned) == "top right"


@pytest.mark.parametrize("size", [(200_000.0, 200_000.0), (14_400.0, 1.0), (0.5, 0.5)])
def test_absurd_media_boxes_stay_within_the_limit(tmp_path: Path, size: tuple[float, float]) -> None:
    image = rendering.page_image(drawing.digital(tmp_path / "a.pdf", [], size=size), 0, max_pixels=1_000_000)
    assert 1 <= image.width * image.height <= 1_000_000


def test_page_that_is_one_picture_comes_at_the_pictures_resolution(tmp_path: Path) -> None:
    path = drawing.scanned_pdf(tmp_path / "a.pdf", Image.new("L", (1190, 1684), 200))
    assert rendering.page_image(path, 0, dpi=50).size == (1190, 1684)


def test_filled_in_form_fields_are_drawn(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=drawing.A4)
    canvas.acroForm.textfield(name="nif", value="B12345678", x=50, y=700, width=200, height=30)
    canvas.showPage()
    canvas.save()
    grey = numpy.asarray(rendering.page_image(tmp_path / "a.pdf", 0).convert("L"))
    assert grey.min() < 100


def test_documents_stay_open_for_the_next_page_and_the_oldest_are_closed(tmp_path: Path) -> None:
    rendering.close_documents()
    paths = [drawing.digital(tmp_path / f"{number}.pdf") for number in range(6)]
    for path in paths:
        rendering.page_image(path, 0, dpi=20)
        rendering.page_image(path, 0, dpi=20)
    assert [Path(key[0]) for key in rendering._documents] == paths[-4:]


def test_replaced_file_is_opened_anew(tmp_path: Path) -> None:
    path = drawing.digital(tmp_path / "a.pdf", size=(200, 200))
    assert rendering.page_image(path, 0, dpi=72).size == (200, 200)
    drawing.digital(path, [], size=(100, 100))
    assert rendering.page_image(path, 0, dpi=72).size == (100, 100)


def test_exif_orientation_is_applied(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: rotate clockwise to view
    with_mark().save(tmp_path / "a.jpg", exif=exif)
    image = rendering.page_image(tmp_path / "a.jpg", 0)
    assert image.size == (80, 60)
    assert darkest_quarter(image) == "top right"


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("a.png", "P"),
        ("a.png", "1"),
        ("a.png", "LA"),
        ("a.jpg", "CMYK"),
        ("a.webp", "RGBA"),
        ("a.heic", "RGB"),
    ],
)
def test_every_kind_of_image_becomes_plain(tmp_path: Path, name: str, mode: str) -> None:
    rendering._learn_heif()
    with_mark((64, 64)).convert(mode).save(tmp_path / name)
    image = rendering.page_image(tmp_path / name, 0)
    assert image.mode in ("RGB", "L")
    assert darkest_quarter(image) == "top left"
    assert numpy.asarray(image.convert("L"))[-8:, -8:].min() > 240


def test_transparency_is_white_paper(tmp_path: Path) -> None:
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(tmp_path / "a.png")
    assert rendering.page_image(tmp_path / "a.png", 0).getpixel((4, 4)) == (255, 255, 255)


def test_sixteen_bits_are_scaled_not_cut(tmp_path: Path) -> None:
    grey = numpy.full((10, 10), 32768, dtype=numpy.uint16)
    Image.fromarray(grey).save(tmp_path / "a.tif")
    assert rendering.page_image(tmp_path / "a.tif", 0).getpixel((5, 5)) == 127


def test_tiff_frames_are_pages(tmp_path: Path) -> None:
    frames = [Image.new("L", (10 + number, 10)) for number in range(3)]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    assert [rendering.page_image(tmp_path / "a.tif", number).width for number in range(3)] == [10, 11, 12]
    with pytest.raises(PermanentError, match="no page 4"):
        rendering.page_image(tmp_path / "a.tif", 3)


def test_large_photos_are_made_smaller(tmp_path: Path) -> None:
    with_mark((1000, 800)).save(tmp_path / "a.jpg")
    image = rendering.page_image(tmp_path / "a.jpg", 0, max_pixels=50_000)
    assert image.width * image.height <= 50_000
    assert darkest_quarter(image) == "top left"


@pytest.mark.parametrize("content", [b"%PDF-1.7 and nothing else", b"\xff\xd8\xff\xe0 broken", b"", b"hello"])
def test_damaged_files_say_so_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.bin").write_bytes(content)
    with pytest.raises(PermanentError, match=r"a\.bin is damaged"):
        rendering.page_image(tmp_path / "a.bin", 0)


def test_page_beyond_the_last_says_so(tmp_path: Path) -> None:
    with pytest.raises(PermanentError, match="has 1 pages, there is no page 3"):
        rendering.page_image(drawing.digital(tmp_path / "a.pdf"), 2)


def test_png_for_screens_is_turned_and_has_the_width_asked_for(tmp_path: Path) -> None:
    path = drawing.digital(tmp_path / "a.pdf", ["Hola"])
    image = Image.open(io.BytesIO(rendering.png(path, 0, rotation=90, width=421)))
    assert image.width == 421
    assert image.height == pytest.approx(298, abs=2)
    assert darkest_quarter(image) == "top right"


@pytest.mark.parametrize("size", [(3, 14_400), (14_400, 3)])
@pytest.mark.parametrize("rotation", [0, 90])
def test_png_of_a_page_as_thin_as_a_thread_has_no_more_pixels_than_allowed(
    size: tuple[int, int], rotation: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "MAX_PIXELS", 1_000_000)  # as many would do, and take seconds
    with pikepdf.new() as document:
        document.add_blank_page(page_size=size)
        document.save(tmp_path / "thin.pdf")
    image = Image.open(io.BytesIO(rendering.png(tmp_path / "thin.pdf", 0, rotation=rotation, width=3000)))
    assert image.width * image.height <= 1_000_000


def test_picture_one_pixel_wide_has_no_more_pixels_than_allowed(tmp_path: Path) -> None:
    for size in ((1, 1000), (1000, 1)):
        Image.new("L", size).save(tmp_path / "a.png")
        image = rendering.page_image(tmp_path / "a.png", 0, max_pixels=500)
        assert image.width * image.height <= 500
