"""A client of `docproc up`: how long one document takes from POST /process until /status says completed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench.document_fleet import patient_workflow
from bench.documents import Paper
from bench.fleet import ROOT

LOOK_SECONDS = 0.003
_START_SECONDS = 120
_STOP_SECONDS = 40


@contextmanager
def server() -> Iterator[httpx.Client]:
    """A real `docproc up` on free ports, in a folder of its own, warm; nobody is asked to review."""
    with tempfile.TemporaryDirectory(prefix="docproc-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "workflows").mkdir()
        (folder / "workflows/default.yaml").write_text(patient_workflow(), encoding="utf-8")
        api, review, health = _free_ports(3)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")},
            "DOCPROC_WORKFLOWS_DIR": str(folder / "workflows"),
            "DOCPROC_BACKOFFICE_PORT": str(review),
            "DOCPROC_HEALTH_PORT": str(health),
            "DOCPROC_LOG_LEVEL": "error",
            "DOCPROC_REVIEW": "flag",
        }
        command = [sys.executable, "-m", "docproc", "up", "--home", name, "--port", str(api)]
        with (folder / "up.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--processes", "2"],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            _until_ready(process, f"http://127.0.0.1:{health}/ready", folder / "up.log")
            with httpx.Client(base_url=f"http://127.0.0.1:{api}", timeout=60, trust_env=False) as client:
                yield client
        finally:
            _end(process)


def latencies(client: httpx.Client, papers: Sequence[Paper]) -> Iterator[float]:
    """Seconds of each file, one after the other."""
    for paper in papers:
        content = paper.path.read_bytes()
        started = time.perf_counter()
        accepted = client.post("/process", files={"file": (paper.path.name, content)})
        request_id = accepted.raise_for_status().json()["request_id"]
        while (told := client.get(f"/status/{request_id}").json())["status"] != "completed":
            if told["status"] == "failed":
                raise SystemExit(f"{paper.path.name} failed: {told['error']}")
            time.sleep(LOOK_SECONDS)
        yield time.perf_counter() - started


def _until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(url, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise RuntimeError(f"`docproc up` did not start:\n{log.read_text(errors='replace')[-2000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
