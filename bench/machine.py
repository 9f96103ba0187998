"""A bad machine for bench/chaos.py: a disk that fills up, a disk that is slow, a clock that is set.

Each part says by `missing` what it lacks here; the bench then goes on without its faults and names them.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import time
from pathlib import Path

SOURCE = Path(__file__).with_name("bad_machine.c")


class Disk:
    """A small file system of its own (tmpfs), so that filling it harms nobody else."""

    def __init__(self, path: Path, megabytes: int) -> None:
        self.path = path
        self.missing = self._mount(megabytes)

    def _mount(self, megabytes: int) -> str | None:
        self.path.mkdir(parents=True)
        if os.geteuid() != 0:
            return "full disk: only root may mount a tmpfs"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0755", "tmpfs", self.path],
            capture_output=True,
            text=True,
        )
        return f"full disk: {done.stderr.strip()}" if done.returncode else None

    @property
    def _filler(self) -> Path:
        return self.path / "filler"

    def fill(self) -> None:
        """To the last page: large pieces first, since each piece that does not fit is tried smaller."""
        with self._filler.open("wb") as file:
            size, end = 2**24, 0
            while size >= 4096:
                try:
                    os.posix_fallocate(file.fileno(), end, size)
                    end += size
                except OSError:
                    size //= 2

    def make_room(self) -> None:
        self._filler.unlink(missing_ok=True)

    def close(self) -> None:
        if self.missing is None:
            # Lazily: somebody's process may be about to end in it.
            subprocess.run(["umount", "--lazy", self.path], check=False)


class Machine:
    """The clock and the disk of one host, for processes that were started with its variables.

    Their monotonic clocks run on when the wall clock is set.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._control = folder / f"{name}.machine"
        self._library = folder / f"{name}.so"
        self._delay_seconds = 0.0
        # Since when (monotonic) the clock is how far from the true time.
        self._clock = [(-float("inf"), 0.0)]
        self._control.write_bytes(self._state())
        self.missing = self._compile()

    def _compile(self) -> str | None:
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            return "clock steps and slow fsync: there is no C compiler"
        command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(self._library), str(SOURCE), "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True)
        return f"clock steps and slow fsync: {done.stderr.strip()[:200]}" if done.returncode else None

    @property
    def variables(self) -> dict[str, str]:
        if self.missing:
            return {}
        return {"LD_PRELOAD": str(self._library), "CHAOS_MACHINE": str(self._control)}

    def slow_down(self, seconds: float) -> None:
        """So long does every fsync take from now on, besides its own time."""
        self._delay_seconds = seconds
        self._tell()

    @property
    def offset(self) -> float:
        return self._clock[-1][1]

    def set_clock(self, offset: float) -> None:
        """So many seconds from the true time."""
        self._clock.append((time.monotonic(), offset))
        self._tell()

    def _state(self) -> bytes:
        return struct.pack("qq", round(self.offset), round(self._delay_seconds * 1e6))

    def _tell(self) -> None:
        with self._control.open("r+b") as file:  # in place: it is mapped
            file.write(self._state())

    def clock_shows(self, moment: float, since: float) -> float:
        """When (monotonic, not before `since`) its clock first shows that moment (seconds since the epoch);
        inf: not yet."""
        true_start = time.time() - time.monotonic()  # of the monotonic clock, by the true one
        ends = [*self.clock_set_at, time.monotonic()]
        for (began, offset), end in zip(self._clock, ends, strict=True):
            at = moment - offset - true_start
            if end >= since and at <= end:
                return max(at, began, since)
        return float("inf")

    @property
    def clock_set_at(self) -> list[float]:
        return [began for began, _ in self._clock[1:]]
