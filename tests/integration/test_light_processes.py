"""A process imports what it needs: seen in its modules, and in the time that people wait."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("commands")

# As the installed program does.
PROGRAM = "import sys; from docproc.cli.start import main; sys.exit(main())"
# What it would compare itself with: the libraries of a program of this kind, and nothing else.
LIBRARIES = "import typer, rich"
HEAVY = ("pydantic", "sqlalchemy", "fastapi", "numpy", "openvino")
TIMES = 10


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")}
    return {**kept, "DOCPROC_HOME": str(home), "DOCPROC_HEALTH_PORT": "0"}


def modules_of(code: str, *arguments: str, home: Path) -> set[str]:
    """Those that a process has imported by its end."""
    tell = "import atexit, json, sys; atexit.register(lambda: print('\\n' + json.dumps(list(sys.modules))))"
    done = subprocess.run(
        [sys.executable, "-c", f"{tell}; {code}", *arguments], capture_output=True, text=True, check=True,
        cwd=home, env=environment(home),
    )  # fmt: skip
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_overview_imports_no_command_and_nothing_heavy(tmp_path: Path) -> None:
    found = modules_of(PROGRAM, "--help", home=tmp_path)
    assert found.isdisjoint(HEAVY)
    ours = {name for name in found if name.startswith("docproc.cli.")}
    assert ours == {f"docproc.cli.{name}" for name in ("start", "help", "commands")}


def test_a_command_imports_no_other(tmp_path: Path) -> None:
    found = modules_of(PROGRAM, "db", "current", home=tmp_path)
    ours = {name for name in found if name.startswith("docproc.cli.")}
    assert ours == {f"docproc.cli.{name}" for name in ("start", "main", "help", "commands", "database")}
    assert found.isdisjoint({"fastapi", "numpy", "openvino", "docproc.apps.documents.cli"})


def cpu_seconds(*arguments: str, home: Path) -> float:
    """Of a process that ends; unlike the time that passes, others on the machine hardly change it."""
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, cwd=home, env=environment(home)
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def test_overview_takes_hardly_longer_than_its_libraries(tmp_path: Path) -> None:
    """Meant is 1.5 times; what is above that here leaves room for a busy machine."""
    for code in (PROGRAM, LIBRARIES):
        cpu_seconds("-c", code, "--help", home=tmp_path)  # compiles what is new
    pairs = [
        (cpu_seconds("-c", PROGRAM, "--help", home=tmp_path), cpu_seconds("-c", LIBRARIES, home=tmp_path))
        for _ in range(TIMES)
    ]
    overview, libraries = (statistics.median(times) for times in zip(*pairs, strict=True))
    assert overview < 2 * libraries


# At its end the worker also reads every workflow file, as the first request would make it do.
WORKER = """
import atexit, json, runpy, sys

def tell():
    from docproc.app import App
    from docproc.settings import Settings
    assert App(Settings.load()).loader.usable()
    print(json.dumps(list(sys.modules)))

atexit.register(tell)
sys.argv = ["docproc"]
runpy.run_module("docproc", run_name="__main__")
"""


def test_worker_that_only_moves_messages_imports_no_reading(tmp_path: Path) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
        env={**environment(tmp_path), "DOCPROC_COMPONENT_NAME": "workflow_router"},
    )
    assert worker.stdout is not None
    said = []
    try:
        for line in worker.stdout:
            said.append(line)
            if "component_ready" in line:
                worker.send_signal(signal.SIGTERM)
        assert worker.wait(20) == 0, said
    finally:
        worker.kill()
        worker.stdout.close()
        worker.wait()
    found = set(json.loads(said[-1]))
    assert found.isdisjoint({"openvino", "rapidocr", "pypdfium2", "fastapi", "numpy"})
    assert "docproc.engine.components.workflow_router" in found
    assert not any(name.startswith("docproc.apps.documents.components") for name in found)
