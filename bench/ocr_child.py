"""One OCR system in a process of its own: a picture's path per line in, its words, CPU and memory out.

python bench/ocr_child.py SYSTEM
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from docproc.reading import rendering
from docproc.reading.ocr import engine, rapid, upright
from docproc.reading.ocr.engine import OcrEngine

Reader = Callable[[Path], list[str]]


def plain_rapidocr() -> Reader:
    """RapidOCR as it comes, with PP-OCRv6 small on OpenVINO and its threads free to move between cores."""
    import rapidocr
    from rapidocr import EngineType, RapidOCR

    models = Path(rapidocr.__file__).parent / "models"
    pipeline: Any = RapidOCR(
        params={
            "Global.log_level": "error",
            "EngineConfig.openvino.enable_cpu_pinning": False,
            **{f"{part}.engine_type": EngineType.OPENVINO for part in ("Det", "Cls", "Rec")},
            "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
            "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
            "Cls.model_path": str(models / "ch_ppocr_mobile_v2.0_cls_mobile.onnx"),
        }
    )
    return lambda path: [word for line in pipeline(str(path)).txts or () for word in line.split()]


def ours(loaded: OcrEngine) -> Reader:
    """As in production: skew measured and straightened, turned pages noticed."""
    return lambda path: [word.text for word in upright.read(rendering.page_image(path, 0), loaded).words]


SYSTEMS: dict[str, Callable[[], Reader]] = {
    "rapidocr untuned": plain_rapidocr,
    "docproc rapidocr": lambda: ours(engine.load("rapidocr")),
    "docproc rapidocr/onnxruntime": lambda: ours(rapid.RapidEngine(runtime="onnxruntime")),
    "docproc tesseract": lambda: ours(engine.load("tesseract")),
}


def answers(read: Reader, paths: Iterator[str]) -> Iterator[dict[str, Any]]:
    for path in paths:
        started = time.process_time()
        words = read(Path(path))
        spent = time.process_time() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield {"words": words, "cpu": spent, "peak_mb": peak}


def main(system: str, warm_up: Path) -> None:
    out = os.fdopen(os.dup(1), "w")
    with redirect_stdout(sys.stderr):  # libraries like to greet
        read = SYSTEMS[system]()
        read(warm_up)
        print("{}", file=out, flush=True)
        for answer in answers(read, (line.rstrip("\n") for line in sys.stdin)):
            print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
