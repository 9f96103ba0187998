import shutil
import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from docproc.errors import ConfigurationError
from docproc.reading import rendering, text_layer
from docproc.reading.ocr import engine, rapid, tesseract, upright
from docproc.reading.page import Word
from tests import papers, services
from tests.unit.reading import drawing


class FakeEngine:
    """Answers with one list of words after the other and remembers what it was shown."""

    name = "fake"

    def __init__(self, *answers: Sequence[Word]) -> None:
        self.answers = list(answers)
        self.sizes: list[tuple[int, int]] = []

    def read(self, image: Image.Image) -> list[Word]:
        self.sizes.append(image.size)
        return list(self.answers.pop(0))


def wide(confidence: float, text: str = "palabra") -> list[Word]:
    return [Word(text, (0.1, 0.1, 0.4, 0.12), confidence, 0)]


def tall(confidence: float) -> list[Word]:
    return [Word("palabra", (0.1, 0.1, 0.12, 0.4), confidence, 0)]


def test_unknown_engine_names_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="Choose one of: rapidocr, tesseract"):
        engine.load("acrobat")


def test_missing_runtime_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rapid, "find_spec", lambda name: None if name != "rapidocr" else object())
    with pytest.raises(ConfigurationError, match="pip install openvino"):
        rapid._runtime()


def test_missing_tesserocr_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tesserocr", None)
    with pytest.raises(ConfigurationError, match=r"docproc\[tesseract\]"):
        tesseract.make()


def test_missing_language_data_names_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tesseract, "_FOLDERS", ())
    with pytest.raises(ConfigurationError, match="apt-get install tesseract-ocr tesseract-ocr-spa"):
        tesseract._data_folder(str(tmp_path))
    (tmp_path / "5" / "tessdata").mkdir(parents=True)
    (tmp_path / "5" / "tessdata" / "spa.traineddata").touch()
    assert tesseract._data_folder(str(tmp_path)) == tmp_path / "5" / "tessdata"


def test_tesseract_reads_words_with_places_and_confidences() -> None:
    services.require(None if find_spec("tesserocr") else "tesserocr is not installed")
    services.require(None if shutil.which("tesseract") else "Debian's tesseract-ocr is not installed")
    words = engine.load("tesseract").read(papers.picture(papers.INVOICE))
    found = {word.text: word for word in reversed(words)}  # the first of its text
    assert {"FACTURA", "F-2026-0042", "Gestoría", "121,00"} <= set(found)
    assert found["FACTURA"].line < found["Gestoría"].line < found["121,00"].line
    assert found["FACTURA"].box[0] < 0.1 < found["121,00"].box[0]
    assert 0.5 < found["FACTURA"].confidence <= 1


def test_models_come_from_the_wheel_without_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert rapid.RapidEngine().read(Image.new("L", (200, 100), 255)) == []
    assert engine.load("rapidocr") is engine.load("rapidocr")


def test_line_is_cut_into_words_at_its_spaces() -> None:
    characters = [(letter, 0.05 + 0.1 * place, 0.9) for place, letter in enumerate("IVA 21,00€")]
    words = rapid._words(characters)
    assert [word[0] for word in words] == ["IVA", "21,00€"]
    assert words[0][1:3] == pytest.approx((0.0, 0.3))
    assert words[1][1:3] == pytest.approx((0.4, 1.0))
    assert words[1][3] == pytest.approx(0.9)


def test_scan_reads_spanish_with_boxes_like_the_text_layer(tmp_path: Path) -> None:
    scan = drawing.scan(tmp_path)
    words = engine.load("rapidocr").read(scan)
    lines: dict[int, list[str]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word.text)
    assert [" ".join(line) for line in lines.values()] == list(drawing.INVOICE)
    printed = text_layer.read(tmp_path / "to_scan.pdf", 0)
    assert printed is not None
    for word, truth in zip(words, printed.words, strict=True):
        assert word.box == pytest.approx(truth.box, abs=0.012)
        assert word.confidence > 0.8


def test_small_print_below_a_large_title_is_read(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=drawing.A4)
    canvas.setFont("Helvetica-Bold", 40)
    canvas.drawString(72, 700, "FACTURA")
    canvas.setFont("Helvetica", 6)
    canvas.drawString(72, 60, "Inscrita en el Registro Mercantil de Cádiz, tomo 1234, folio 56, hoja CA-7890")
    canvas.save()
    scan = rendering.page_image(tmp_path / "a.pdf", 0, dpi=150)
    words = [word.text for word in engine.load("rapidocr").read(scan)]
    assert words[0] == "FACTURA"
    assert {"Registro", "Mercantil", "Cádiz,", "CA-7890"} <= set(words)


def test_onnxruntime_reads_the_same_where_it_is_installed(tmp_path: Path) -> None:
    if find_spec("onnxruntime") is None:
        pytest.skip("onnxruntime is not installed: it is only the fallback")
    words = rapid.RapidEngine(runtime="onnxruntime").read(drawing.scan(tmp_path))
    assert [word.text for word in words] == " ".join(drawing.INVOICE).split()


def test_recognizer_of_the_wheel_can_be_narrowed() -> None:
    loaded = engine.load("rapidocr")
    assert isinstance(loaded, rapid.RapidEngine)
    assert isinstance(loaded._recognizer, rapid.NarrowRecognizer)


def test_page_that_reads_well_is_read_once() -> None:
    fake = FakeEngine(wide(0.99))
    assert upright.read(Image.new("L", (100, 200), 255), fake).rotation == 0
    assert len(fake.sizes) == 1


@pytest.mark.parametrize(
    ("answers", "rotation"),
    [
        ([wide(0.6), wide(0.98)], 180),
        ([wide(0.7), wide(0.6)], 0),  # only hard to read
        ([tall(0.98), wide(0.98)], 270),
        ([tall(0.6), wide(0.98)], 90),
        ([tall(0.98), wide(0.5), wide(0.99, "palabras")], 90),
        ([[]], 0),
    ],
)
def test_turn_is_kept_only_when_it_reads_better(answers: list[list[Word]], rotation: int) -> None:
    fake = FakeEngine(*answers)
    found = upright.read(Image.new("L", (100, 200), 255), fake)
    assert found.rotation == rotation
    assert (found.width, found.height) == ((200, 100) if rotation % 180 else (100, 200))
    assert not fake.answers


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turned_scan_is_read_upright(tmp_path: Path, turn: int) -> None:
    lines = drawing.INVOICE[:4]
    scan = drawing.scan(tmp_path, lines)
    found = upright.read(rendering.turned(scan, turn), engine.load("rapidocr"))
    assert found.rotation == 360 - turn
    assert (found.width, found.height) == scan.size
    assert [word.text for word in found.words] == " ".join(lines).split()
    assert found.words[0].box[0] == pytest.approx(72 / 595, abs=0.01)


@pytest.mark.parametrize("degrees", [-12.0, -3.0, 0.0, 0.4, 3.0, 8.0])
@pytest.mark.parametrize("turn", [0, 90])
def test_skew_is_measured(tmp_path: Path, degrees: float, turn: int) -> None:
    scan = rendering.turned(drawing.scan(tmp_path, drawing.INVOICE * 2), turn)
    skewed = scan.rotate(-degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=255)
    assert upright.skew(skewed) == pytest.approx(degrees if abs(degrees) > 0.7 else 0.0, abs=0.3)


def test_skewed_scan_keeps_its_lines_and_boxes_fit_the_page_as_it_is(tmp_path: Path) -> None:
    skewed = drawing.scan(tmp_path).rotate(-3, Image.Resampling.BICUBIC, fillcolor=255)
    found = upright.read(skewed, engine.load("rapidocr"))
    assert [word.text for word in found.words] == " ".join(drawing.INVOICE).split()
    assert found.rotation == 0
    first_line = [word for word in found.words if word.line == 0]
    # Rotated clockwise about the middle, lines go down to the right.
    assert first_line[-1].box[1] - first_line[0].box[1] > 0.005
    pixels = numpy.asarray(skewed)
    for word in (found.words[0], found.words[-1]):
        x0, y0, x1, y1 = word.box
        rows, columns = (
            slice(int(y0 * skewed.height), int(y1 * skewed.height)),
            slice(int(x0 * skewed.width), int(x1 * skewed.width)),
        )
        assert pixels[rows, columns].min() < 100  # there is ink in it


def test_use_of_the_models_is_reported_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "openvino_telemetry", raising=False)
    rapid._report_nothing()
    with pytest.raises(ImportError):
        import openvino_telemetry  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: F401
