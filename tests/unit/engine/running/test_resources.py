"""What a process uses of the machine: its children count, and a log line does not wait for a measurement."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

from docproc.engine.running import resources
from docproc.engine.running.resources import Resources, own_resources


def test_children_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "FRESH_SECONDS", 0.0)
    own = own_resources()
    alone = own.measure().memory_mb
    # A child that has something in memory and computes for as long as it is asked to.
    code = "data = b'x' * 80_000_000\nprint('', flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            child.stdout.readline()
            own.measure()  # its CPU counts from here on
            before = psutil.Process(child.pid).cpu_times().user
            deadline = time.monotonic() + 30
            while psutil.Process(child.pid).cpu_times().user < before + 0.2 and time.monotonic() < deadline:
                time.sleep(0.05)
            usage = own.measure()
        finally:
            child.kill()
    assert usage.memory_mb > alone + 70
    assert usage.cpu_pct > 0


def test_who_only_reads_takes_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Resources(psutil.Process().pid)
    first = found.measure()
    monkeypatch.setattr(found, "_look", lambda: pytest.fail("measured again"))
    assert found.latest() is first
    assert found.measure() is first
