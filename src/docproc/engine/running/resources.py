"""What this process uses of the machine, its child processes included: for log lines and the worker's row."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from functools import cache

import psutil

# How old a measurement may be. Listing child processes looks through all processes of the machine, so it
# costs far more than handling a light message and is shared by everybody in the process.
FRESH_SECONDS = 2.0
# Who only reads (a log line on the event loop) measures by itself only where nobody else does.
NEGLECTED_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Usage:
    """`cpu_pct`: 100 is one core; `memory_mb` is resident memory."""

    cpu_pct: float = 0.0
    memory_mb: float = 0.0


class Resources:
    """The process and its children, measured at most every two seconds. Safe to use from several threads."""

    def __init__(self, pid: int) -> None:
        self._own = psutil.Process(pid)
        self._own.cpu_percent()  # from here on
        self._known: dict[int, psutil.Process] = {pid: self._own}
        self._lock = threading.Lock()
        self._measured_at = float("-inf")
        self.usage = Usage()

    def measure(self) -> Usage:
        """Now, unless it was just done; for a thread that may take its time, such as the heartbeat's."""
        return self._renewed(FRESH_SECONDS)

    def latest(self) -> Usage:
        """The last measurement, without waiting for a new one."""
        return self._renewed(NEGLECTED_SECONDS)

    def _renewed(self, seconds: float) -> Usage:
        is_old = time.monotonic() - self._measured_at > seconds
        if is_old and self._lock.acquire(blocking=False):
            try:
                self.usage = self._look()
                self._measured_at = time.monotonic()
            finally:
                self._lock.release()
        return self.usage

    def _look(self) -> Usage:
        # A process's CPU is the difference to the look before, so the objects are kept.
        found = {one.pid: one for one in (self._own, *_children(self._own))}
        self._known = {pid: self._known.get(pid, one) for pid, one in found.items()}
        cpu = memory = 0.0
        for one in self._known.values():
            try:
                cpu += one.cpu_percent()
                memory += one.memory_info().rss
            except psutil.Error:  # it has just ended
                continue
        return Usage(round(cpu, 1), round(memory / 2**20, 1))


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def own_resources() -> Resources:
    """Those of the process that asks; one made before a fork would speak of the parent."""
    return _of(os.getpid())


@cache
def _of(pid: int) -> Resources:
    return Resources(pid)
