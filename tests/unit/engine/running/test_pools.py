"""Pools of children: whatever becomes of one child, the others and the next call notice nothing."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from prometheus_client import REGISTRY
from structlog.testing import CapturingLogger

from docproc.engine.running import child, children
from docproc.engine.running.pools import Pools
from docproc.errors import ChildDiedError, NoChildError, ProcessingError
from docproc.harmless import text_for_logs, traceback_for_logs


@pytest.fixture
async def pools() -> AsyncIterator[Pools]:
    made = Pools(workers=2)
    yield made
    made.close()


FAREWELL = """
import asyncio, os
from docproc.engine.running.pools import Pools

async def main():
    pools = Pools()
    await pools.run_in_process(exec, "import atexit, os; atexit.register(os.write, 2, b'farewell')")
    print("ready", flush=True)
    {end}

if __name__ == "__main__":
    asyncio.run(main())
"""


class TwoArgumentsError(Exception):
    """Pickles, and cannot be unpickled: it is rebuilt with the one argument it keeps."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


class Cursed:
    """Pickles, and raises something else than an unpickling error when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("not a number",)


def pid() -> int:
    return os.getpid()


def raise_unpicklable() -> None:
    raise TwoArgumentsError("this", "that")


def raise_holding_a_generator() -> None:
    raise ValueError(number for number in range(3))


def leave() -> None:
    sys.exit(3)


def stop_iterating() -> None:
    raise StopIteration(1)


def give_back_what_cannot_be_read() -> Cursed:
    return Cursed()


def give_back_what_cannot_be_sent() -> Callable[[], None]:
    return lambda: None


def fail_deep_inside() -> None:
    raise KeyError("deep inside")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for(gate: Path) -> int:
    gate.with_suffix(".begun").touch()
    while not gate.exists():
        time.sleep(0.01)
    return os.getpid()


def stop_self_and_parent_goes_on() -> int:
    os.kill(os.getpid(), signal.SIGTERM)
    return os.getpid()


async def wait_until(condition: Callable[[], object], what: str) -> None:
    try:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"not within 20 s: {what}") from None


def lost(doing: str) -> float:
    return REGISTRY.get_sample_value("docproc_children_lost_total", {"doing": doing}) or 0.0


@contextmanager
def nothing_can_be_started(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if the machine had no process left."""

    def start(_process: Any) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with monkeypatch.context() as patch:
        patch.setattr(child._SPAWN.Process, "start", start)
        yield


async def test_killed_idle_child_is_replaced_and_told_of(
    pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CapturingLogger()
    monkeypatch.setattr(children, "log", log)
    before = lost("idle")
    first = await pools.run_in_process(pid)
    os.kill(first, signal.SIGKILL)
    await wait_until(lambda: lost("idle") > before, "its death is noticed, though nobody works")
    second = await pools.run_in_process(pid)
    assert second != first
    assert pools.can_work
    (line,) = log.calls
    assert (line.method_name, line.args) == ("warning", ("child_lost",))
    assert line.kwargs == {"doing": "idle", "pid": first, "exit_code": -9}


async def test_call_that_races_with_a_dying_child_is_done_by_the_next(pools: Pools) -> None:
    for _ in range(5):
        os.kill(await pools.run_in_process(pid), signal.SIGKILL)
        assert await pools.run_in_process(pid)  # not ChildDiedError: it was never begun


async def test_stopped_child_is_replaced_and_its_call_done_by_the_next(
    pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "BEGIN_SECONDS", 0.2)
    stopped = await pools.run_in_process(pid)
    os.kill(stopped, signal.SIGSTOP)
    assert len(await pools.run_in_process(bytes, 10_000_000)) == 10_000_000
    assert not psutil.pid_exists(stopped)


async def test_death_of_one_child_leaves_the_work_of_the_other_alone(pools: Pools, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    waiting = asyncio.create_task(pools.run_in_process(wait_for, gate))
    await wait_until(gate.with_suffix(".begun").exists, "the first works")
    before = lost("working")
    with pytest.raises(ChildDiedError, match=r"running die died \(exit code -9\)"):
        await pools.run_in_process(die)
    await wait_until(lambda: lost("working") == before + 1, "it is counted")
    os.kill(await pools.run_in_process(pid), signal.SIGKILL)
    gate.touch()
    assert await waiting


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (raise_unpicklable, "TwoArgumentsError: this and that"),
        (raise_holding_a_generator, "ValueError: <generator"),
        (leave, "SystemExit: 3"),
        (stop_iterating, "StopIteration: 1"),
        (give_back_what_cannot_be_read, "returned cannot be read: ValueError: invalid literal"),
    ],
)
async def test_what_cannot_travel_fails_its_own_call_only(
    pools: Pools, function: Callable[[], Any], text: str
) -> None:
    before = await pools.run_in_process(pid)
    with pytest.raises(ProcessingError, match=text):
        await pools.run_in_process(function)
    assert await pools.run_in_process(pid) == before


async def test_result_that_cannot_be_sent_says_so(pools: Pools) -> None:
    with pytest.raises(Exception, match="pickle"):
        await pools.run_in_process(give_back_what_cannot_be_sent)
    assert await pools.run_in_process(pid)


async def test_error_keeps_its_class_and_shows_where_it_was_raised(pools: Pools) -> None:
    with pytest.raises(KeyError, match="deep inside") as raised:
        await pools.run_in_process(fail_deep_inside)
    assert "in fail_deep_inside" in str(raised.value.__cause__)


async def test_logs_name_the_place_in_the_child_and_not_what_it_read(pools: Pools) -> None:
    with pytest.raises(KeyError) as raised:
        await pools.run_in_process(fail_deep_inside)
    line = fail_deep_inside.__code__.co_firstlineno + 1
    assert text_for_logs(raised.value) == f"KeyError at test_pools.py:{line}"
    told = traceback_for_logs(raised.value)
    assert f"test_pools.py:{line}" in told
    assert "deep inside" not in told.replace("fail_deep_inside", "")


async def test_cancelled_call_kills_its_child_and_no_other(pools: Pools, tmp_path: Path) -> None:
    gates = [tmp_path / "one", tmp_path / "two"]
    tasks = [asyncio.create_task(pools.run_in_process(wait_for, gate)) for gate in gates]
    for gate in gates:
        await wait_until(gate.with_suffix(".begun").exists, "both work")
    lost_before = lost("working")
    tasks[0].cancel()
    assert await pools.run_in_process(pid)  # in the place of the one that was killed
    gates[1].touch()
    assert await tasks[1]
    assert lost("working") == lost_before


async def test_call_cancelled_before_it_began_is_never_done(tmp_path: Path) -> None:
    pools = Pools(workers=1)
    try:
        gates = [tmp_path / "one", tmp_path / "two"]
        tasks = [asyncio.create_task(pools.run_in_process(wait_for, gate)) for gate in gates]
        await wait_until(gates[0].with_suffix(".begun").exists, "the first works")
        tasks[1].cancel()
        gates[0].touch()
        assert await tasks[0] == await pools.run_in_process(pid)
        assert not gates[1].with_suffix(".begun").exists()
    finally:
        pools.close()


async def test_child_that_cannot_be_started_puts_work_off_without_counting(
    pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = lost("starting")
    with nothing_can_be_started(monkeypatch):
        with pytest.raises(NoChildError, match="Resource temporarily unavailable") as raised:
            await pools.run_in_process(pid)
        assert not raised.value.counts_attempt
        assert raised.value.delay is not None
        assert not pools.can_work
    assert await pools.run_in_process(pid)  # as soon as there is room again
    assert pools.can_work
    assert lost("starting") > before


async def test_child_that_cannot_be_replaced_leaves_the_work_to_the_others(
    pools: Pools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    waiting = asyncio.create_task(pools.run_in_process(wait_for, gate))
    await wait_until(gate.with_suffix(".begun").exists, "one works")
    other = await pools.run_in_process(pid)
    before = lost("starting")
    with nothing_can_be_started(monkeypatch):
        os.kill(other, signal.SIGKILL)
        await wait_until(lambda: lost("starting") > before, "no other one can be started")
        gate.touch()
        assert await pools.run_in_process(pid) == await waiting
        assert pools.can_work


async def test_call_given_back_is_done_by_whoever_is_idle(
    pools: Pools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where no other child can be started in the place of the one that did not begin it."""
    gate = tmp_path / "gate"
    waiting = asyncio.create_task(pools.run_in_process(wait_for, gate))
    await wait_until(gate.with_suffix(".begun").exists, "the first works")
    assert await pools.run_in_process(pid)
    gate.touch()
    await waiting
    first = await pools.run_in_process(pid)  # of two that are idle now, the one that is asked first
    monkeypatch.setattr(child, "BEGIN_SECONDS", 0.2)
    with nothing_can_be_started(monkeypatch):
        os.kill(first, signal.SIGSTOP)
        async with asyncio.timeout(20):
            assert await pools.run_in_process(pid) != first


async def test_no_descriptor_for_a_child_is_no_lasting_harm(
    pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pipe(*_args: Any) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as patch:
        patch.setattr(child._SPAWN, "Pipe", pipe)
        with pytest.raises(NoChildError, match="Too many open files"):
            await pools.run_in_process(pid)
    assert await pools.run_in_process(pid)


async def test_end_of_a_whole_group_does_not_end_work_under_way(pools: Pools) -> None:
    before = await pools.run_in_process(pid)
    assert await pools.run_in_process(stop_self_and_parent_goes_on) == before
    assert await pools.run_in_process(pid) == before


async def test_closed_pools_leave_nothing_behind() -> None:
    pools = Pools(workers=2)
    hanging = asyncio.create_task(pools.run_in_process(time.sleep, 600))
    idle = psutil.Process(await pools.run_in_process(pid))
    pools.close()
    assert not idle.is_running()
    with pytest.raises(ChildDiedError):
        await hanging
    assert not [one for one in psutil.Process().children() if "spawn_main" in " ".join(one.cmdline())]
    with pytest.raises(NoChildError, match="about to end"):
        await pools.run_in_process(pid)


@pytest.mark.parametrize("end", ["pools.close()", "os._exit(0)"])
def test_children_end_without_the_interpreters_farewell(end: str, tmp_path: Path) -> None:
    """There native libraries complain of what they still hold, in the middle of whoever's terminal."""
    program = tmp_path / "program.py"
    program.write_text(FAREWELL.format(end=end), encoding="utf-8")
    found = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (0, "ready\n", "")


async def test_killed_children_leave_no_descriptor_and_no_thread(pools: Pools) -> None:
    this = psutil.Process()

    async def held() -> tuple[int, int]:
        await pools.run_in_process(os.getpid)  # a child that imports nothing of ours starts quickly
        return this.num_fds(), this.num_threads()

    first = await held()
    for _ in range(10):
        os.kill(await pools.run_in_process(os.getpid), signal.SIGKILL)
        with pytest.raises(ChildDiedError):
            await pools.run_in_process(os._exit, 7)
    await wait_until(lambda: this.num_fds() <= first[0] + 8, "descriptors are given back")
    assert (await held())[1] <= first[1] + 1
