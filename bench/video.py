"""Films: frames a second by one process, by Celery workers and by FFmpeg's own filters; what distributing
costs; whether memory stays flat; how soon the frames of a killed worker are done.

    python bench/video.py --quick --json        a minute
    python bench/video.py --json                everything: 10 000 frames and a killed worker, too; minutes
    python bench/video.py --parts memory        a part of it
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import av
import cv2
import numpy as np
import psutil

from bench.video_deployment import PrivateRedis, Running, VideoDeployment, redis_problem, until
from docproc.apps.video.film.reading import probe, read_frames
from docproc.apps.video.film.writing import FilmWriter
from docproc.apps.video.filters.chain import requested
from docproc.apps.video.frames.files import CHEAPEST
from docproc.apps.video.frames.job import pin_threads
from tests.films import Look, draw, number_of, picture

CHEAP, HEAVY = "blur", "denoise"
# The same effect by FFmpeg: a Gaussian of OpenCV's size 9 has sigma 1.7; non-local means as OpenCV's are set.
GRAPHS = {CHEAP: ("gblur", "sigma=1.7:steps=2"), HEAVY: ("nlmeans", "s=5:p=5:r=15")}
# As specified: eight workers on a machine of twelve threads.
PLANNED_WORKERS = 8
PARTS = ("png", "speed", "memory", "rate", "takeover")

Results = list[dict[str, Any]]


class Report:
    def __init__(self) -> None:
        self.results: Results = []
        self.ratios: dict[str, float] = {}
        self.skipped: list[str] = []

    def add(self, system: str, metric: str, value: float, unit: str) -> float:
        self.results.append({"system": system, "metric": metric, "value": round(value, 3), "unit": unit})
        print(f"{system:34} {metric:34} {value:10.2f} {unit}", file=sys.stderr, flush=True)
        return value

    def ratio(self, name: str, value: float) -> None:
        self.ratios[name] = round(value, 3)
        print(f"{name:69} {value:10.2f}", file=sys.stderr, flush=True)


# --- the same work without anybody to share it with ------------------------------------------------------


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


# --- deployments -----------------------------------------------------------------------------------------


@contextmanager
def deployed(folder: Path, workers: int, **settings: object) -> Iterator[tuple[VideoDeployment, Running]]:
    """A server and so many workers of one process each."""
    place = folder / f"deployment-{time.monotonic_ns()}"
    place.mkdir()
    broker = PrivateRedis(place)
    broker.start()
    deployment = VideoDeployment(place, broker.url, **{"VIDEO_RATE_LIMIT": 0, **settings})
    try:
        for number in range(workers):
            deployment.worker(1, f"worker{number}")
        server = deployment.server()
        warm(deployment, folder, workers)
        yield deployment, server
    finally:
        deployment.close()
        broker.kill()
        shutil.rmtree(place, ignore_errors=True)


def warm(deployment: VideoDeployment, folder: Path, workers: int) -> None:
    """Until every worker has filtered something: imports are no work."""
    film = folder / "warm.mp4"
    if not film.exists():
        draw(film, Look(frames=12, sound=None))
    until(lambda: deployment.send(film)["worker_count"] == workers, "all workers work")


class Watch:
    """The most memory of a process and its children, and what CPU they used."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.most_mb = 0.0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._ending.wait(0.1):
            try:
                self.most_mb = max(self.most_mb, self.running.rss_mb())
            except psutil.NoSuchProcess:
                continue

    def __enter__(self) -> Watch:
        self._cpu = self._seconds()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu_seconds = self._seconds() - self._cpu
        self._ending.set()
        self._thread.join()

    def _seconds(self) -> float:
        """Of the process itself: children that ended are in its own account."""
        times = self.running.tree()[0].cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)


def round_trips(deployment: VideoDeployment, ending: threading.Event) -> list[float]:
    """Milliseconds in which the server answers other clients while it works: how long its loop is blocked."""
    found = []
    while not ending.wait(0.05):
        started = time.perf_counter()
        with socket.create_connection(("127.0.0.1", deployment.port), 10) as wire:
            wire.sendall(struct.pack(">I", 2) + b"[]")
            wire.recv(4)
        found.append(1000 * (time.perf_counter() - started))
    return found


# --- what is measured ------------------------------------------------------------------------------------


def measure_speed(report: Report, folder: Path, films: dict[str, Path]) -> dict[str, dict[str, float]]:
    """Frames a second of each way, for a cheap and a heavy filter."""
    speed: dict[str, dict[str, float]] = {CHEAP: {}, HEAVY: {}}
    for name, film in films.items():
        fps = speed[name]
        fps["graph"] = report.add(
            "ffmpeg filter graph", f"{name} frames_per_s", filter_graph(film, folder / "g.mp4", name), "1/s"
        )
        fps["one"] = report.add(
            "one process", f"{name} frames_per_s", one_process(film, folder / "o.mp4", name), "1/s"
        )
    for workers in (1, 2):
        with deployed(folder, workers) as (deployment, server):
            for name, film in films.items():
                ending, trips = threading.Event(), list[float]()
                asking = threading.Thread(target=lambda: trips.extend(round_trips(deployment, ending)))  # noqa: B023 # joined below
                asking.start()
                with Watch(server) as watch:
                    made = deployment.send(film, "--processing", name, seconds=600)
                ending.set()
                asking.join()
                frames = made["total_frames"]
                system = f"celery, {workers} worker{'s' * (workers > 1)}"
                speed[name][f"celery{workers}"] = report.add(
                    system, f"{name} frames_per_s", made["fps_processing"], "1/s"
                )
                speed[name][f"server{workers}"] = 1000 * watch.cpu_seconds / frames
                speed[name][f"filter{workers}"] = made["filter_ms"]["avg"]
                report.add(system, f"{name} server_cpu_per_frame", speed[name][f"server{workers}"], "ms")
                report.add(system, f"{name} filter_time_per_frame", made["filter_ms"]["avg"], "ms")
                if workers == 2:
                    report.add(system, f"{name} answer_to_others_max", max(trips), "ms")
    for name, fps in speed.items():
        report.add(
            "distributing", f"{name} overhead_per_frame", 1000 / fps["celery1"] - 1000 / fps["one"], "ms"
        )
        report.ratio(f"{name}: efficiency of 2 workers", fps["celery2"] / (2 * fps["celery1"]))
        report.ratio(f"{name}: 2 workers vs one process", fps["celery2"] / fps["one"])
        report.ratio(f"{name}: one process vs ffmpeg filter graph", fps["one"] / fps["graph"])
    return speed


def plan(report: Report, speed: dict[str, dict[str, float]]) -> None:
    """For eight workers on twelve threads: they are the limit until the server's own work per frame is."""
    for name, fps in speed.items():
        workers = PLANNED_WORKERS * fps["celery1"]
        server = (
            1000 / fps["server1"] * 2
        )  # it has two threads of the twelve, and its parts run beside each other
        value = report.add("plan: 8 workers, 12 threads", f"{name} frames_per_s", min(workers, server), "1/s")
        report.ratio(f"plan {name}: speed-up over one process", value / fps["one"])


def measure_rate_limit(report: Report, folder: Path, film: Path) -> None:
    for limit in (64, 0):
        with deployed(folder, 1, VIDEO_RATE_LIMIT=limit) as (deployment, _):
            made = deployment.send(film, "--processing", CHEAP, seconds=600)
            name = f"celery, rate limit {limit or 'off'}"
            report.add(name, f"{CHEAP} frames_per_s", made["fps_processing"], "1/s")


def measure_memory(report: Report, folder: Path, counts: tuple[int, ...]) -> None:
    """Of the server and its children, for films of different lengths; every frame is checked."""
    with deployed(folder, 2) as (deployment, server):
        most = []
        for count in counts:
            film = folder / f"{count}.mp4"
            draw(film, Look(frames=count, width=320, height=180))
            with Watch(server) as watch:
                made = deployment.send(film, "--processing", "grayscale", seconds=3000)
            assert (made["total_frames"], made["frames_failed"]) == (count, 0), made
            most.append(
                report.add("celery, 2 workers", f"{count} frames: server memory", watch.most_mb, "MB")
            )
            report.add("celery, 2 workers", f"{count} frames: frames_per_s", made["fps_processing"], "1/s")
            report.add(
                "celery, 2 workers",
                f"{count} frames: corrupt",
                corrupt(deployment, made["session_id"], count),
                "1",
            )
            film.unlink()
            shutil.rmtree(deployment.frames(made["session_id"]))
        report.ratio(f"memory at {counts[-1]} vs {counts[0]} frames", most[-1] / most[0])


def corrupt(deployment: VideoDeployment, session_id: str, count: int) -> int:
    """Frames of the film that was made that are not the ones that belong there."""
    made = deployment.folder / "out.mp4"
    info, wrong, seen = probe(made), 0, 0
    for when, image in read_frames(made, info):
        wrong += number_of(np.asarray(image, np.uint8)) != when.index % (1 << 14)
        seen += 1
    return wrong + abs(seen - count)


def measure_png(report: Report) -> None:
    """A frame of 1280 × 720 to bytes and back, by one thread."""
    cv2.setNumThreads(1)
    image = picture(7, Look(width=1280, height=720))
    noise = np.random.default_rng(1).normal(0, 4, image.shape)
    image = np.clip(image + noise, 0, 255).astype(np.uint8)
    ways = {"png stored (chosen)": (".png", CHEAPEST), "png default": (".png", ()), "bmp (raw)": (".bmp", ())}
    for name, (kind, options) in ways.items():
        started = time.process_time()
        for _ in range(5):
            content = cv2.imencode(kind, image, options)[1]
        middle = time.process_time()
        for _ in range(5):
            cv2.imdecode(content, cv2.IMREAD_COLOR)
        report.add(name, "write", 200 * (middle - started), "ms")
        report.add(name, "read", 200 * (time.process_time() - middle), "ms")
        report.add(name, "size", content.size / 2**20, "MB")


def measure_takeover(report: Report, folder: Path) -> None:
    """How long after a worker's death its frames are done by another, by the default settings."""
    film = folder / "takeover.mp4"
    draw(film, Look(frames=60))
    with deployed(folder, 1) as (deployment, _):
        doomed = next(one for one in deployment.running if one.log.name.startswith("worker"))
        before = deployment.sessions()
        client = deployment.sending(film, "--processing", HEAVY)
        session_id = deployment.new_session(before)
        until(lambda: deployment.progress(session_id)["frames_processed"] >= 5, "it works")
        doomed.kill()
        killed = time.monotonic()
        deployment.worker(1, "other")
        made = deployment.made(client, 600)
        report.add("celery, worker killed", "until the film is done", time.monotonic() - killed, "s")
        report.add("celery, worker killed", "frames replaced by originals", made["frames_failed"], "1")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small films, a minute in all")
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, help="only these (default: all; quick: the first three)"
    )
    given = parser.parse_args()
    parts = given.parts or (PARTS[:3] if given.quick else PARTS)
    report = Report()
    os.environ.setdefault("OPENCV_LOG_LEVEL", "ERROR")
    if "png" in parts:
        measure_png(report)
    if problem := redis_problem():
        report.skipped.append(problem)
    else:
        with tempfile.TemporaryDirectory(prefix="docproc-bench-") as name:
            _measure(report, Path(name), given.quick, parts)
    if given.json:
        print(json.dumps({"results": report.results, "ratios": report.ratios, "skipped": report.skipped}))


def _measure(report: Report, folder: Path, quick: bool, parts: Sequence[str]) -> None:
    films = {CHEAP: folder / "cheap.mp4", HEAVY: folder / "heavy.mp4"}
    draw(films[CHEAP], Look(frames=150 if quick else 600, width=640, height=360))
    draw(films[HEAVY], Look(frames=24 if quick else 120, width=640, height=360))
    if "speed" in parts:
        plan(report, measure_speed(report, folder, films))
    if "memory" in parts:
        measure_memory(report, folder, (100, 400) if quick else (300, 3000, 10_000))
    if "rate" in parts:
        measure_rate_limit(report, folder, films[CHEAP])
    if "takeover" in parts:
        measure_takeover(report, folder)


if __name__ == "__main__":
    main()
