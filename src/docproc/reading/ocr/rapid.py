"""OCR with RapidOCR's PP-OCRv6 models, from its wheel, on OpenVINO (or ONNX Runtime).

RapidOCR finds and prepares the models; detection and recognition are called one by one, because its own
pipeline searches blank paper at full resolution, pads short lines to 320 pixels, compares every letter with
all Chinese ones and returns words without their confidences.
"""

from __future__ import annotations

import logging
import math
import sys
import unicodedata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy
import numpy.typing
from PIL import Image

from docproc.errors import ConfigurationError
from docproc.reading.lines import Fragment, in_lines
from docproc.reading.ocr import alphabet, canvas, spaces
from docproc.reading.ocr.spaces import Character
from docproc.reading.page import Word

Pixels = numpy.typing.NDArray[Any]
Runtime = Literal["openvino", "onnxruntime"]

_DETECTOR = "PP-OCRv6_det_small.onnx"
_RECOGNIZER = "PP-OCRv6_rec_small.onnx"
_READING_LONG_SIDE = 4000
_LINE_HEIGHT = 48  # what the recognizer was trained on
_LEAST_WIDTH = 64
_LEAST_SIDE = 3
_WIDEST = 3200
_LEAST_CONFIDENCE = 0.5
# Lines read with less are compared with the symbols of all alphabets; what comes out counts only where the
# line is one of another script, and read more surely so.
_DOUBTFUL = 0.7


def make() -> RapidEngine:
    return RapidEngine()


class RapidEngine:
    """One thread per process by default: several processes share the cores."""

    name = "rapidocr"

    def __init__(self, *, threads: int = 1, runtime: Runtime | None = None) -> None:
        runtime = runtime or _runtime()
        logging.getLogger("RapidOCR").setLevel(logging.ERROR)
        _report_nothing()
        import cv2
        from rapidocr import EngineType, RapidOCR
        from rapidocr.utils.process_img import get_rotate_crop_image

        cv2.setNumThreads(threads)
        self._cv2 = cv2
        self._cut_out = get_rotate_crop_image
        rapid: Any = RapidOCR(params=_parameters(EngineType(runtime), threads))
        detector = rapid._load_det_model()
        self._find_print = detector.session
        self._boxes = detector.postprocess_op
        recognizer = rapid._load_rec_model()
        self._recognizer = _recognizer(recognizer, runtime, threads)

    def read(self, image: Image.Image) -> list[Word]:
        pixels = self._prepared(image)
        height, width = pixels.shape[:2]
        runs = []
        for corners in self._detect(pixels):
            run = self._read_line(pixels, corners)
            if run:
                runs.append([_as_fractions(fragment, width, height) for fragment in run])
        return list(in_lines(runs))

    def _prepared(self, image: Image.Image) -> Pixels:
        if max(image.size) > _READING_LONG_SIDE:
            image = image.copy()
            image.thumbnail((_READING_LONG_SIDE, _READING_LONG_SIDE))
        # The models were trained on OpenCV's order of colours.
        return numpy.ascontiguousarray(numpy.asarray(image.convert("RGB"))[:, :, ::-1])

    def _detect(self, pixels: Pixels) -> list[Pixels]:
        """The corners of each piece of a line: top left, top right, bottom right, bottom left."""
        prepared = canvas.prepare(pixels)
        if prepared is None:
            return []
        found = canvas.in_strips(prepared, self._likely_print)
        boxes = self._boxes(found[None, None], found.shape)[0]
        height, width = pixels.shape[:2]
        on_page = [prepared.on_page(box).clip(0, (width - 1, height - 1)) for box in boxes]
        return [corners.astype(numpy.float32) for corners in on_page if min(_sides(corners)) >= _LEAST_SIDE]

    def _likely_print(self, strip: Pixels) -> Pixels:
        given = strip.astype(numpy.float32).transpose(2, 0, 1)[None] / 127.5 - 1
        return numpy.asarray(self._find_print(given)[0, 0])

    def _read_line(self, pixels: Pixels, corners: Pixels) -> list[Fragment]:
        piece = self._cut_out(pixels, corners.copy())
        height, width = piece.shape[:2]
        scaled = min(_WIDEST, max(1, math.ceil(_LINE_HEIGHT * width / height)))
        padded = max(_LEAST_WIDTH, _stepped(scaled, _width_step(scaled)))
        line = numpy.zeros((1, 3, _LINE_HEIGHT, padded), dtype=numpy.float32)
        resized = self._cv2.resize(piece, (scaled, _LINE_HEIGHT))
        line[0, :, :, :scaled] = resized.astype(numpy.float32).transpose(2, 0, 1) / 127.5 - 1
        characters = self._recognizer.characters(line, padded / scaled)
        if not characters or _sureness(characters) < _LEAST_CONFIDENCE:
            return []
        characters = spaces.restored(characters, self._cv2.cvtColor(resized, self._cv2.COLOR_BGR2GRAY))
        return [_on_page(word, corners) for word in _words(characters)]


class WholeRecognizer:
    """The recognizer as it comes."""

    def __init__(self, session: Any, symbols: list[str], kept: list[int]) -> None:
        self._session = session
        self._symbols = symbols
        self._kept = kept

    def characters(self, line: Pixels, stretch: float) -> list[Character]:
        """What is written on a line, which is padded to `stretch` times its width."""
        likely = self._session(line)[0]
        whole = _decoded(likely, self._symbols, stretch)
        if all(_is_narrow(sign) for sign, _, _ in whole):
            return whole
        narrow = _decoded(likely[:, self._kept], [self._symbols[number] for number in self._kept], stretch)
        return in_script(narrow, whole)


class NarrowRecognizer:
    """The recognizer on OpenVINO, asked for European symbols first."""

    def __init__(self, model: Any, layer: alphabet.Layer, symbols: list[str], kept: list[int]) -> None:
        self._request = model.create_infer_request()
        self._layer = layer
        self._symbols = symbols
        self._kept = [symbols[number] for number in kept]

    def characters(self, line: Pixels, stretch: float) -> list[Character]:
        self._request.infer([line])
        found = _decoded(self._request.get_output_tensor(0).data[0], self._kept, stretch)
        if not found or _sureness(found) >= _DOUBTFUL:
            return found
        features = self._request.get_output_tensor(1).data[0]
        return in_script(found, _decoded(self._layer.likelihood(features), self._symbols, stretch))


def in_script(narrow: list[Character], whole: list[Character]) -> list[Character]:
    """Of two readings of a line, by European symbols and by all, the one in the script it is written in."""
    if not narrow or not whole:
        return narrow or whole
    is_other = alphabet.is_other_script("".join(sign for sign, _, _ in whole))
    return whole if is_other and _sureness(whole) > _sureness(narrow) else narrow


def _is_narrow(sign: str) -> bool:
    return alphabet.european(["", sign]) == [0, 1]


def _recognizer(loaded: Any, runtime: Runtime, threads: int) -> WholeRecognizer | NarrowRecognizer:
    raw = [str(symbol) for symbol in loaded.postprocess_op.character]
    symbols = [_plain(symbol) for symbol in raw]
    kept = alphabet.european(raw)
    found = alphabet.narrowed(loaded.session.model, kept) if runtime == "openvino" else None
    if found is None:
        return WholeRecognizer(loaded.session, symbols, kept)
    import openvino  # type: ignore[import-untyped]  # it has no types

    model, layer = found
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False}
    return NarrowRecognizer(openvino.Core().compile_model(model, "CPU", settings), layer, symbols, kept)


def _decoded(likely: Pixels, symbols: list[str], stretch: float) -> list[Character]:
    """CTC: the likeliest symbol of each step, without repetitions and blanks, its place and surety."""
    best = likely.argmax(axis=1)
    starts = numpy.ones(len(best), dtype=bool)
    starts[1:] = best[1:] != best[:-1]
    steps = numpy.nonzero(starts & (best != 0))[0]
    places = ((steps + 0.5) * (stretch / len(best))).clip(0, 1)
    return [
        (symbols[symbol], float(place), float(sure))
        for symbol, place, sure in zip(best[steps], places, likely[steps, best[steps]], strict=True)
    ]


def _sureness(characters: list[Character]) -> float:
    return sum(sure for _, _, sure in characters) / len(characters)


def _stepped(size: int, step: int) -> int:
    return math.ceil(size / step) * step


def _width_step(width: int) -> int:
    """Finer for the many short lines than for the few long ones."""
    return 32 if width <= 512 else 64 if width <= 1024 else 128


# A word with where it starts and ends along the line, and how sure it is.
_Stretch = tuple[str, float, float, float]


def _words(characters: list[Character]) -> list[_Stretch]:
    """The line cut at its spaces. Words reach half a character beyond the middles of their ends."""
    advance = (characters[-1][1] - characters[0][1]) / max(1, len(characters) - 1)
    words: list[_Stretch] = []
    group: list[Character] = []
    for character in [*characters, (" ", 1.0, 1.0)]:
        if not character[0].isspace():
            group.append(character)
        elif group:
            words.append(_joined(group, advance))
            group = []
    # The detector's box ends where the text does.
    if words:
        text, start, end, sure = words[0]
        words[0] = (text, min(start, 0.0), end, sure)
        text, start, end, sure = words[-1]
        words[-1] = (text, start, max(end, 1.0), sure)
    return words


def _joined(group: list[Character], advance: float) -> _Stretch:
    own = (group[-1][1] - group[0][1]) / (len(group) - 1) if len(group) > 1 else advance
    half = own / 2
    text = "".join(character for character, _, _ in group)
    sure = sum(sure for _, _, sure in group) / len(group)
    return text, max(0.0, group[0][1] - half), min(1.0, group[-1][1] + half), min(1.0, sure)


def _on_page(word: _Stretch, corners: Pixels) -> Fragment:
    text, start, end, sure = word
    top_left, top_right, bottom_right, bottom_left = corners
    if _is_upright_strip(corners):  # cut out turned to the left: the text runs down
        top_left, top_right, bottom_right, bottom_left = top_right, bottom_right, bottom_left, top_left
    along_top, along_bottom = top_right - top_left, bottom_right - bottom_left
    points = numpy.array(
        [
            top_left + along_top * start,
            top_left + along_top * end,
            bottom_left + along_bottom * start,
            bottom_left + along_bottom * end,
        ]
    )
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return text, (float(x0), float(y0), float(x1), float(y1)), sure


def _is_upright_strip(corners: Pixels) -> bool:
    width, height = _sides(corners)
    return int(height) >= 1.5 * int(width)


def _sides(corners: Pixels) -> tuple[float, float]:
    top_left, top_right, bottom_right, bottom_left = corners

    def longer(one: Pixels, other: Pixels) -> float:
        return float(max(numpy.linalg.norm(one), numpy.linalg.norm(other)))

    return longer(top_left - top_right, bottom_right - bottom_left), longer(
        top_left - bottom_left, top_right - bottom_right
    )


def _as_fractions(fragment: Fragment, width: int, height: int) -> Fragment:
    text, (x0, y0, x1, y1), sure = fragment
    return text, (max(0, x0 / width), max(0, y0 / height), min(1, x1 / width), min(1, y1 / height)), sure


def _plain(symbol: str) -> str:
    """Full-width signs as the ordinary ones they stand for; letters stay as they are."""
    return (
        unicodedata.normalize("NFKC", symbol)
        if "\uff00" <= symbol <= "\uffef" or symbol == "\u3000"
        else symbol
    )


def _report_nothing() -> None:
    """OpenVINO reports its use to its maker when it is imported, unless this package of its is missing."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None: cannot be imported


def _runtime() -> Runtime:
    if find_spec("rapidocr") is None:
        raise ConfigurationError("the OCR engine rapidocr is not installed", remedy="pip install rapidocr")
    runtimes: tuple[Runtime, ...] = ("openvino", "onnxruntime")
    for runtime in runtimes:
        if find_spec(runtime) is not None:
            return runtime
    raise ConfigurationError(
        "the OCR engine rapidocr needs openvino or onnxruntime to run its models",
        remedy="pip install openvino",
    )


def _parameters(runtime: Any, threads: int) -> dict[str, Any]:
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    for model in (_DETECTOR, _RECOGNIZER):
        if not (models / model).is_file():
            raise ConfigurationError(
                f"the installed rapidocr has no model {model}", remedy="pip install 'rapidocr>=3.10'"
            )
    return {
        "Global.log_level": "error",
        "Global.use_cls": False,
        # Named files, or RapidOCR would compare and perhaps download them.
        "Det.model_path": str(models / _DETECTOR),
        "Rec.model_path": str(models / _RECOGNIZER),
        "Det.engine_type": runtime,
        "Rec.engine_type": runtime,
        "EngineConfig.openvino.inference_num_threads": threads,
        "EngineConfig.openvino.enable_cpu_pinning": False,
        "EngineConfig.openvino.num_streams": 1,
        "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
        "EngineConfig.onnxruntime.intra_op_num_threads": threads,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
