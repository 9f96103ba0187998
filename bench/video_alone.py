"""Films without anybody to share the work with: one process, FFmpeg's own filters; and what a frame costs
on its way to another process as PNG, as raw file or in shared memory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

from docproc.apps.video.film.reading import probe, read_frames
from docproc.apps.video.film.writing import FilmWriter
from docproc.apps.video.filters.chain import requested
from docproc.apps.video.filters.filter import Image
from docproc.apps.video.frames.files import CHEAPEST
from docproc.apps.video.frames.job import pin_threads
from tests.films import Look, picture

CHEAP, HEAVY = "blur", "denoise"
# The same effect by FFmpeg: a Gaussian of OpenCV's size 9 has sigma 1.7; non-local means as OpenCV's are set.
GRAPHS = {CHEAP: ("gblur", "sigma=1.7:steps=2"), HEAVY: ("nlmeans", "s=5:p=5:r=15")}
ROUNDS = 10


def one_process(film: Path, out: Path, filter_name: str) -> float:
    """Frames a second of decoder, filter and encoder in one loop, with the code that the workers use."""
    pin_threads()
    chain, info = requested(filter_name, [], 8), probe(film)
    started, count = time.perf_counter(), 0
    with FilmWriter(out, info, (info.width, info.height)) as writer:
        for when, image in read_frames(film, info):
            writer.write(chain.apply([image]), when)
            count += 1
    return count / (time.perf_counter() - started)


def filter_graph(film: Path, out: Path, filter_name: str) -> float:
    """The limit: frames that never leave FFmpeg, in its own format and on one thread."""
    name, arguments = GRAPHS[filter_name]
    started, count = time.perf_counter(), 0
    with av.open(str(film)) as source, av.open(str(out), "w", format="mp4") as target:
        track = source.streams.video[0]
        track.thread_type = "AUTO"
        graph = av.filter.Graph()
        graph.threads = 1
        graph.link_nodes(
            graph.add_buffer(template=track), graph.add(name, arguments), graph.add("buffersink")
        )
        graph.configure()
        stream: Any = target.add_stream("libx264", rate=track.average_rate, options={"preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = track.width, track.height, "yuv420p"
        for frame in source.decode(track):
            graph.push(frame)
            target.mux(stream.encode(graph.pull()))
            count += 1
        target.mux(stream.encode(None))
    return count / (time.perf_counter() - started)


def ways_of_a_frame() -> dict[str, tuple[float, float, float]]:
    """Milliseconds of CPU to write and to read a frame of 1280 × 720, and its megabytes, for each way."""
    cv2.setNumThreads(1)
    image = picture(7, Look(width=1280, height=720))
    noise = np.random.default_rng(1).normal(0, 4, image.shape)
    image = np.clip(image + noise, 0, 255).astype(np.uint8)
    found = {}
    with tempfile.TemporaryDirectory(prefix="docproc-bench-") as name:
        files = {
            "png stored (chosen)": (".png", CHEAPEST),
            "png default": (".png", ()),
            "bmp (raw file)": (".bmp", ()),
        }
        for way, (kind, options) in files.items():
            path = Path(name) / f"frame{kind}"
            write, read = _timed(
                lambda path=path, options=options: cv2.imwrite(str(path), image, options),  # type: ignore[misc]
                lambda path=path: cv2.imread(str(path), cv2.IMREAD_COLOR),  # type: ignore[misc]
            )
            found[way] = (write, read, path.stat().st_size / 2**20)
    found["shared memory (one machine only)"] = (*_through_memory(image), image.nbytes / 2**20)
    return found


def _through_memory(image: Image) -> tuple[float, float]:
    memory = SharedMemory(create=True, size=image.nbytes)

    def shared() -> Image:  # made anew each time: one that is left would keep the memory from being closed
        return np.ndarray(image.shape, np.uint8, memory.buf)

    try:
        return _timed(lambda: np.copyto(shared(), image), lambda: shared().copy())
    finally:
        memory.close()
        memory.unlink()


def _timed(write: Callable[[], Any], read: Callable[[], Any]) -> tuple[float, float]:
    started = time.process_time()
    for _ in range(ROUNDS):
        write()
    middle = time.process_time()
    for _ in range(ROUNDS):
        read()
    return 1000 * (middle - started) / ROUNDS, 1000 * (time.process_time() - middle) / ROUNDS
