"""Commands without the wait: one process imports DocProc once and forks for each command.

Importing is most of what a short command costs, and the tests run more than a hundred of them. Each command
is still a process of its own, with its own arguments, environment, folder, output and exit code.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_lock = threading.Lock()
_codes: list[int] = []  # the exit code, once it is known


def run(
    arguments: Sequence[str], environment: dict[str, str], folder: Path, results: Path, seconds: float
) -> int:
    """`python -m docproc` with those arguments; its output is in `results`, its exit code returned."""
    order = {
        "arguments": list(arguments),
        "environment": environment,
        "folder": str(folder),
        "results": str(results),
        "seconds": int(seconds),
    }
    _give(json.dumps(order).encode() + b"\n")
    deadline = time.monotonic() + seconds + 30  # the command itself is ended after `seconds`
    while not (results / "code").exists():
        assert time.monotonic() < deadline, f"no answer to {order}"
        time.sleep(0.01)
    return int((results / "code").read_text())


def _give(order: bytes) -> None:
    with _lock:
        pipe = _forker().stdin
        assert pipe is not None
        pipe.write(order)
        pipe.flush()


@functools.cache
def _forker() -> subprocess.Popen[bytes]:
    """Ends when its input is closed: by us, or because we were killed."""
    forker = subprocess.Popen(
        [sys.executable, "-m", "tests.forking"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    atexit.register(forker.communicate)
    return forker


# --- in the process that forks ----------------------------------------------------------------------------


def main() -> None:
    atexit.register(_leave)
    _import_everything()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait for the commands
    for line in sys.stdin.buffer:
        if os.fork() == 0:
            return _supervise(json.loads(line))


def _import_everything() -> None:
    import typer

    from docproc.cli.main import app
    from docproc.registry import Registry

    root: Any = typer.main.get_command(app)
    registry = Registry({})
    assert all(root.commands.values()) and all(registry.load(name) for name in registry.names)


def _supervise(order: dict[str, str]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    command = os.fork()
    if command == 0:
        return _become_command(order)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(command, signal.SIGKILL))
    signal.alarm(int(order["seconds"]))
    code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    results = Path(order["results"])
    (results / "code.part").write_text(str(code))
    (results / "code.part").rename(results / "code")
    os._exit(0)


def _become_command(order: dict[str, str]) -> None:
    from docproc.__main__ import main as docproc

    for name, number in (("out", 1), ("err", 2)):
        with (Path(order["results"]) / name).open("wb") as file:
            os.dup2(file.fileno(), number)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])  # type: ignore[arg-type]
    sys.argv = ["docproc", *order["arguments"]]
    sys.path[0] = order["folder"]
    try:
        docproc()
    except SystemExit as ended:
        _codes.append(int(ended.code or 0))
        raise


def _leave() -> None:
    """The last exit function: taking thousands of modules apart would cost more than the command did."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if _codes:
        os._exit(_codes[0])


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
