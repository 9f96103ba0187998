"""Starts a peer's worker processes, tells when both have run tasks, and stops them by pid."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

WORKER_PROCESSES = 2
STOP_SECONDS = 10.0
REPOSITORY = Path(__file__).resolve().parents[2]
_WARM_DIRECTORY = "BENCH_PEERS_WARM_DIRECTORY"

_marked_pid = 0


def mark_warm() -> None:
    """Called by every work function: leaves a file named after this process the first time."""
    global _marked_pid
    # The pid rather than a flag, as a pool may fork after its parent has run this.
    if _marked_pid == os.getpid():
        return
    _marked_pid = os.getpid()
    Path(os.environ[_WARM_DIRECTORY], str(_marked_pid)).touch()


class Workers:
    """The running worker processes of one peer, as a context."""

    def __init__(self, commands: list[list[str]], environment: dict[str, str]) -> None:
        self._commands = commands
        self._environment = environment
        self._directory = tempfile.TemporaryDirectory(prefix="bench-peers-")
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Workers":
        Path(self._directory.name, "warm").mkdir()
        for number, command in enumerate(self._commands):
            self._processes.append(self._start(number, command))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            _reap(process)
        self._directory.cleanup()

    def check_alive(self) -> None:
        """Raise, with what they wrote, if a worker process has ended by itself."""
        if any(process.poll() is not None for process in self._processes):
            raise RuntimeError(f"a worker ended early:\n{self.logs()}")

    def warm(self) -> bool:
        """Tell whether both worker processes have run a task."""
        return len(list(Path(self._directory.name, "warm").iterdir())) >= WORKER_PROCESSES

    def logs(self) -> str:
        """Return the end of what the workers wrote, for error messages."""
        return "\n".join(path.read_text()[-2000:] for path in Path(self._directory.name).glob("*.log"))

    def _start(self, number: int, command: list[str]) -> subprocess.Popen[bytes]:
        warm = {_WARM_DIRECTORY: str(Path(self._directory.name, "warm")), "PYTHONPATH": str(REPOSITORY)}
        with Path(self._directory.name, f"{number}.log").open("wb") as log:
            # A session of its own lets _reap end a pool's children with their parent.
            return subprocess.Popen(
                command,
                cwd=REPOSITORY,
                env={**os.environ, **warm, **self._environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
