from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from docproc.errors import ConfigurationError, PermanentError
from docproc.reading import reading
from docproc.reading.ocr import engine
from docproc.reading.page import Source, Word, pack, unpack
from tests.unit.reading import drawing


class FakeEngine:
    name = "fake"

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.pages = 0

    def read(self, image: Image.Image) -> list[Word]:
        self.pages += 1
        return [Word(text, (0.1, 0.1, 0.4, 0.12), 0.95, number) for number, text in enumerate(self.texts)]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    fake = FakeEngine("leído", "por", "OCR")
    monkeypatch.setattr(engine, "load", lambda name: fake)
    return fake


def test_digital_page_is_read_without_ocr(tmp_path: Path, fake: FakeEngine) -> None:
    page = reading.read_page(drawing.digital(tmp_path / "a.pdf"), 0)
    assert (page.source, page.engine, fake.pages) == (Source.TEXT_LAYER, "", 0)
    assert page.text.splitlines() == list(drawing.INVOICE)


def test_blank_page_is_read_without_ocr(tmp_path: Path, fake: FakeEngine) -> None:
    page = reading.read_page(drawing.digital(tmp_path / "a.pdf", []), 0)
    assert (page.words, page.confidence, fake.pages) == ((), 1.0, 0)


def test_scan_with_junk_beneath_is_read_by_ocr(tmp_path: Path, fake: FakeEngine) -> None:
    junk = ["".join(chr(ord(letter) + 3) for letter in line) for line in drawing.INVOICE]
    page = reading.read_page(drawing.scanned_pdf(tmp_path / "a.pdf", drawing.scan(tmp_path), junk), 0)
    assert (page.source, page.engine, page.text) == (Source.OCR, "fake", "leído\npor\nOCR")


def test_scan_with_a_good_layer_is_read_without_ocr(tmp_path: Path, fake: FakeEngine) -> None:
    page = reading.read_page(
        drawing.scanned_pdf(tmp_path / "a.pdf", drawing.scan(tmp_path), drawing.INVOICE), 0
    )
    assert (page.source, fake.pages) == (Source.TEXT_LAYER, 0)


def test_doubted_layer_is_kept_when_ocr_sees_no_more(tmp_path: Path, fake: FakeEngine) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=drawing.A4)
    canvas.drawImage(ImageReader(Image.effect_noise((400, 400), 60)), 0, 0, 595, 400)
    canvas.drawString(72, 700, "Certificado de asistencia")
    canvas.save()
    page = reading.read_page(tmp_path / "a.pdf", 0)
    assert (page.source, page.text, fake.pages) == (Source.TEXT_LAYER, "Certificado de asistencia", 1)


def test_mode_insists_on_one_way(tmp_path: Path, fake: FakeEngine) -> None:
    digital = drawing.digital(tmp_path / "a.pdf")
    assert reading.read_page(digital, 0, mode="ocr").source == Source.OCR
    scan = drawing.saved(drawing.scan(tmp_path), tmp_path / "a.png")
    page = reading.read_page(scan, 0, mode="text")
    assert (page.source, page.words) == (Source.TEXT_LAYER, ())


def test_scanned_image_is_read_by_the_real_engine(tmp_path: Path) -> None:
    reading.warm_up("rapidocr")
    page = reading.read_page(drawing.saved(drawing.scan(tmp_path), tmp_path / "a.jpg"), 0)
    assert (page.source, page.engine, page.rotation) == (Source.OCR, "rapidocr", 0)
    assert page.text.splitlines() == list(drawing.INVOICE)
    assert page.confidence > 0.9
    assert unpack(pack(page)).text == page.text


def test_damaged_page_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4 truncated")
    with pytest.raises(PermanentError, match=r"a\.pdf is damaged"):
        reading.read_page(tmp_path / "a.pdf", 0)


def test_unknown_engine_is_a_matter_of_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no OCR engine named 'magic'"):
        reading.warm_up("magic")
    assert engine.names() == ["rapidocr", "tesseract"]
