"""Films: frames a second by one process, by 1 to 8 Celery workers and by FFmpeg's own filters; what
distributing costs; whether memory stays flat; what twelve threads can do; how soon lost frames are done.

    python bench/video.py --json                everything; exits 1 when an aim is missed
    python bench/video.py --quick --json        a minute; too short to be judged by
    python bench/video.py --parts upload        a part of it
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import psutil

from bench.video_alone import CHEAP, HEAVY, filter_graph, one_process, ways_of_a_frame
from bench.video_deployment import PrivateRedis, Running, VideoDeployment, redis_problem, until
from docproc.apps.video.film.reading import probe, read_frames
from tests.films import Look, draw, number_of

CURVE = (1, 2, 4, 8)
# As specified for a machine of twelve threads: eight for workers, one for the client, one for the server's
# loop and two for the rest, where the server's decoding and encoding run beside its loop.
PLANNED_WORKERS = 8
SERVER_THREADS = 3
PARTS = ("ways", "speed", "memory", "upload", "rate", "faults")
QUICK_PARTS = ("ways", "speed", "memory")
UPLOAD_BYTES = 2 << 30


class Report:
    def __init__(self) -> None:
        self.results: list[dict[str, Any]] = []
        self.ratios: dict[str, float] = {}
        self.aims: list[dict[str, Any]] = []
        self.skipped: list[str] = []

    def add(self, system: str, metric: str, value: float, unit: str) -> float:
        self.results.append({"system": system, "metric": metric, "value": round(value, 3), "unit": unit})
        print(f"{system:34} {metric:34} {value:10.2f} {unit}", file=sys.stderr, flush=True)
        return value

    def ratio(self, name: str, value: float) -> float:
        self.ratios[name] = round(value, 3)
        print(f"{name:69} {value:10.2f}", file=sys.stderr, flush=True)
        return value

    def aim(self, name: str, value: float, *, least: float | None = None, most: float | None = None) -> None:
        met = (least is None or value >= least) and (most is None or value <= most)
        aim = f">= {least:g}" if least is not None else f"<= {most:g}"
        self.aims.append({"name": name, "value": round(value, 3), "aim": aim, "met": met})
        print(f"{'met' if met else 'MISSED':8} {name}: {value:.2f}, aim {aim}", file=sys.stderr, flush=True)

    def as_json(self) -> str:
        return json.dumps(
            {"results": self.results, "ratios": self.ratios, "aims": self.aims, "skipped": self.skipped}
        )


# --- deployments -----------------------------------------------------------------------------------------


@contextmanager
def deployed(folder: Path, workers: int, **settings: object) -> Iterator[tuple[VideoDeployment, Running]]:
    """A server and so many workers of one process each."""
    place = folder / f"deployment-{time.monotonic_ns()}"
    place.mkdir()
    broker = PrivateRedis(place)
    deployment = VideoDeployment(place, broker.url, **{"VIDEO_RATE_LIMIT": 0, **settings})
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        stack.callback(broker.kill)
        stack.callback(deployment.close)
        broker.start()
        deployment.redis = broker  # type: ignore[attr-defined] # for what restarts it
        server = deployment.server()
        add_workers(deployment, folder, workers)
        yield deployment, server


def workers_of(deployment: VideoDeployment) -> list[Running]:
    return [one for one in deployment.running if one.log.name.startswith("worker")]


def add_workers(deployment: VideoDeployment, folder: Path, wanted: int) -> None:
    """Until there are so many and every one of them is warm: imports are no work."""
    for number in range(len(workers_of(deployment)), wanted):
        deployment.worker(1, f"worker{number}")
    until(lambda: all("ready." in one.said() for one in workers_of(deployment)), "the workers are ready")
    film = folder / f"warm-{wanted}.mp4"
    draw(film, Look(frames=8 * wanted, sound=None))
    for _ in range(5):
        if deployment.send(film, "--processing", HEAVY)["worker_count"] == wanted:
            break


class Watch:
    """The most memory of processes and their children, and what CPU they used meanwhile."""

    def __init__(self, *running: Running) -> None:
        self.running = running
        self.most_mb = 0.0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._ending.wait(0.1):
            try:
                self.most_mb = max(self.most_mb, sum(one.rss_mb() for one in self.running))
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
        """Children that ended are in their parents' account."""
        spent = 0.0
        for process in (each for one in self.running for each in one.tree()):
            try:
                times = process.cpu_times()
                spent += times.user + times.system + times.children_user + times.children_system
            except psutil.NoSuchProcess:
                continue
        return spent


@contextmanager
def asked_meanwhile(deployment: VideoDeployment) -> Iterator[list[float]]:
    """Milliseconds in which the server answers other clients while it works: how long its loop is blocked."""
    found: list[float] = []
    ending = threading.Event()

    def ask() -> None:
        while not ending.wait(0.05):
            started = time.perf_counter()
            with socket.create_connection(("127.0.0.1", deployment.port), 10) as wire:
                wire.sendall(struct.pack(">I", 2) + b"[]")
                wire.recv(4)
            found.append(1000 * (time.perf_counter() - started))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield found
    finally:
        ending.set()
        thread.join()


# --- what is measured ------------------------------------------------------------------------------------


def measure_ways(report: Report) -> None:
    found = ways_of_a_frame()
    for way, (write, read, size) in found.items():
        report.add(way, "write", write, "ms")
        report.add(way, "read", read, "ms")
        report.add(way, "size", size, "MB")
    chosen, raw = (sum(found[way][:2]) for way in ("png stored (chosen)", "bmp (raw file)"))
    report.ratio("a frame's way: png stored vs raw file", chosen / raw)


Speed = dict[str, dict[str, float]]


def measure_speed(report: Report, folder: Path, films: dict[str, Path], curve: Sequence[int]) -> Speed:
    """Frames a second of each way, for a cheap and a heavy filter."""
    speed: Speed = {name: {} for name in films}
    ways: dict[str, tuple[str, Callable[[Path, Path, str], float]]] = {
        "graph": ("ffmpeg filter graph", filter_graph),
        "one": ("one process", one_process),
    }
    for name, film in films.items():
        for key, (system, measure) in ways.items():
            value = measure(film, folder / "alone.mp4", name)
            speed[name][key] = report.add(system, f"{name} frames_per_s", value, "1/s")
    with deployed(folder, curve[0]) as (deployment, server):
        for workers in curve:
            add_workers(deployment, folder, workers)
            for name, film in films.items():
                _measure_one(report, deployment, server, speed, (name, film, workers))
    for name, fps in speed.items():
        _compare(report, name, fps, curve)
    report.aim(f"{HEAVY}: efficiency of 2 workers", speed[HEAVY]["2"] / (2 * speed[HEAVY]["1"]), least=0.8)
    slowest = max(speed[name]["answer"] for name in films)
    report.aim("slowest answer to another client meanwhile, ms", slowest, most=100)
    return speed


def _measure_one(
    report: Report, deployment: VideoDeployment, server: Running, speed: Speed, case: tuple[str, Path, int]
) -> None:
    name, film, workers = case
    system = f"celery, {workers} worker{'s' * (workers > 1)}"
    with (
        asked_meanwhile(deployment) as answers,
        Watch(server) as own,
        Watch(*workers_of(deployment)) as theirs,
    ):
        made = deployment.send(film, "--processing", name, seconds=600)
    assert made["frames_failed"] == 0, made
    fps, frames = speed[name], made["total_frames"]
    fps[str(workers)] = report.add(system, f"{name} frames_per_s", made["fps_processing"], "1/s")
    report.add(system, f"{name} filter_time_per_frame", made["filter_ms"]["avg"], "ms")
    server_ms = report.add(system, f"{name} server_cpu_per_frame", 1000 * own.cpu_seconds / frames, "ms")
    worker_ms = report.add(system, f"{name} worker_cpu_per_frame", 1000 * theirs.cpu_seconds / frames, "ms")
    if workers == 1:
        fps |= {"server_ms": server_ms, "worker_ms": worker_ms}
    if workers <= 2:  # more fight for the cores of a small machine
        fps["answer"] = max(fps.get("answer", 0.0), max(answers))
        report.add(system, f"{name} answer_to_others_max", max(answers), "ms")


def _compare(report: Report, name: str, fps: dict[str, float], curve: Sequence[int]) -> None:
    report.add("distributing", f"{name} overhead_per_frame", 1000 / fps["1"] - 1000 / fps["one"], "ms")
    for workers in curve:
        report.ratio(f"{name}: {workers} workers vs one process", fps[str(workers)] / fps["one"])
        report.ratio(f"{name}: efficiency of {workers} workers", fps[str(workers)] / (workers * fps["1"]))
    report.ratio(f"{name}: one process vs ffmpeg filter graph", fps["one"] / fps["graph"])


def plan(report: Report, speed: Speed) -> None:
    """For eight workers on twelve threads: by what a frame costs them and the server."""
    system = f"plan: {PLANNED_WORKERS} workers, 12 threads"
    for name, fps in speed.items():
        one_worker, server = 1000 / fps["worker_ms"], SERVER_THREADS * 1000 / fps["server_ms"]
        value = report.add(system, f"{name} frames_per_s", min(PLANNED_WORKERS * one_worker, server), "1/s")
        report.add(system, f"{name} server threads used", value * fps["server_ms"] / 1000, "threads")
        report.add(system, f"{name} workers that are of use", min(PLANNED_WORKERS, server / one_worker), "1")
        report.ratio(f"plan {name}: speed-up over one process", value / fps["one"])


def measure_rate_limit(report: Report, folder: Path, film: Path) -> None:
    rates = []
    for limit in (64, 0):
        with deployed(folder, 1, VIDEO_RATE_LIMIT=limit) as (deployment, _):
            made = deployment.send(film, "--processing", CHEAP, seconds=600)
            name = f"celery, rate limit {limit or 'off'}"
            rates.append(report.add(name, f"{CHEAP} frames_per_s", made["fps_processing"], "1/s"))
    report.ratio("1 worker, rate limit off vs 64 a second", rates[1] / rates[0])
    report.aim("frames a second with a rate limit of 64", rates[0], most=64 * 1.05)


def measure_memory(report: Report, folder: Path, counts: tuple[int, ...]) -> None:
    """Of the server and its children, for films of different lengths; every frame is checked."""
    with deployed(folder, 2) as (deployment, server):
        most = []
        for count in counts:
            film = folder / f"{count}.mp4"
            draw(film, Look(frames=count, width=320, height=180))
            with asked_meanwhile(deployment) as answers, Watch(server) as watch:
                made = deployment.send(film, "--processing", "grayscale", seconds=3000)
            assert (made["total_frames"], made["frames_failed"]) == (count, 0), made
            system = "celery, 2 workers"
            most.append(report.add(system, f"{count} frames: server memory", watch.most_mb, "MB"))
            report.add(system, f"{count} frames: frames_per_s", made["fps_processing"], "1/s")
            wrong = report.add(system, f"{count} frames: corrupt", corrupt(deployment, count), "1")
            report.aim(f"corrupt frames of {count}", wrong, most=0)
            slowest = report.add(system, f"{count} frames: answer_to_others_max", max(answers), "ms")
            report.aim(f"slowest answer to another client meanwhile, {count} frames, ms", slowest, most=100)
            film.unlink()
            shutil.rmtree(deployment.frames(made["session_id"]))
        ratio = report.ratio(f"memory at {counts[-1]} vs {counts[0]} frames", most[-1] / most[0])
        report.aim(f"memory at {counts[-1]} vs {counts[0]} frames", ratio, most=1.25)


def corrupt(deployment: VideoDeployment, count: int) -> int:
    """Frames of the film that was made that are not the ones that belong there."""
    made = deployment.folder / "out.mp4"
    info, wrong, seen = probe(made), 0, 0
    for when, image in read_frames(made, info):
        wrong += number_of(np.asarray(image, np.uint8)) != when.index % (1 << 14)
        seen += 1
    return wrong + abs(seen - count)


def measure_upload(report: Report, folder: Path) -> None:
    """A film of two gigabytes, almost all of it a box that players skip."""
    film = folder / "large.mp4"
    draw(film, Look(frames=30))
    small = folder / "small.mp4"
    shutil.copy(film, small)
    size = film.stat().st_size
    with film.open("ab") as file:
        padding = UPLOAD_BYTES - size
        file.write(struct.pack(">I4sQ", 1, b"free", padding))
        file.truncate(UPLOAD_BYTES)
    with deployed(folder, 1) as (deployment, server):
        memory = []
        for one in (small, film):
            client = deployment.sending(one, "--processing", CHEAP)
            started = time.perf_counter()
            with Watch(server) as watch:
                made = deployment.made(client, 600)
            assert made["total_frames"] == 30, made
            memory.append(watch.most_mb)
            megabytes, seconds = one.stat().st_size / 2**20, time.perf_counter() - started
            report.add("upload", f"{megabytes:.0f} MB: server memory", watch.most_mb, "MB")
            report.add("upload", f"{megabytes:.0f} MB: until the film is back", seconds, "s")
    report.aim("MB of memory more for a film of 2 GB", memory[1] - memory[0], most=64)
    film.unlink()


def measure_faults(report: Report, folder: Path) -> None:
    """By the default settings: a worker is killed, and Redis comes back empty, in the middle of a film."""
    film = folder / "faults.mp4"
    draw(film, Look(frames=60))
    with deployed(folder, 1) as (deployment, _):

        def kill_worker() -> None:
            workers_of(deployment)[0].kill()
            deployment.worker(1, "other")

        def empty_redis() -> None:
            deployment.redis.restart_empty()  # type: ignore[attr-defined] # set by `deployed`

        for what, happens in (("worker killed", kill_worker), ("redis restarted empty", empty_redis)):
            before = deployment.sessions()
            client = deployment.sending(film, "--processing", HEAVY)
            session_id = deployment.new_session(before)
            until(lambda name=session_id: deployment.progress(name)["frames_processed"] >= 5, "it works")  # type: ignore[misc]
            happened = time.monotonic()
            happens()
            made = deployment.made(client, 600)
            took = report.add(f"celery, {what}", "until the film is done", time.monotonic() - happened, "s")
            report.aim(f"{what}: seconds until the film is done", took, most=90)
            report.aim(f"{what}: frames replaced by originals", made["frames_failed"], most=0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small films, a minute in all")
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    parser.add_argument("--parts", nargs="+", choices=PARTS, help="only these (default: all)")
    given = parser.parse_args()
    parts = given.parts or (QUICK_PARTS if given.quick else PARTS)
    report = Report()
    os.environ.setdefault("OPENCV_LOG_LEVEL", "ERROR")
    if "ways" in parts:
        measure_ways(report)
    if problem := redis_problem():
        report.skipped.append(problem)
    else:
        with tempfile.TemporaryDirectory(prefix="docproc-bench-") as name:
            _measure(report, Path(name), given.quick, parts)
    if given.json:
        print(report.as_json())
    return 0 if given.quick else int(not all(aim["met"] for aim in report.aims))


def _measure(report: Report, folder: Path, quick: bool, parts: Sequence[str]) -> None:
    films = {CHEAP: folder / "cheap.mp4", HEAVY: folder / "heavy.mp4"}
    draw(films[CHEAP], Look(frames=150 if quick else 600, width=640, height=360))
    draw(films[HEAVY], Look(frames=24 if quick else 120, width=640, height=360))
    if "speed" in parts:
        plan(report, measure_speed(report, folder, films, CURVE[:2] if quick else CURVE))
    if "memory" in parts:
        measure_memory(report, folder, (100, 400) if quick else (300, 3000, 10_000))
    if "upload" in parts:
        measure_upload(report, folder)
    if "rate" in parts:
        measure_rate_limit(report, folder, films[CHEAP])
    if "faults" in parts:
        measure_faults(report, folder)


if __name__ == "__main__":
    sys.exit(main())
