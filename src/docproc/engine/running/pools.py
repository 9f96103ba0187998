"""Where heavy work runs: threads for what can be trusted, killable child processes for what cannot."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import multiprocessing
import os
import resource
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pebble import ProcessExpired, ProcessPool

from docproc.errors import ChildDiedError

# Heavy work waits for light work: routing, joins and above all answering by the deadline.
NICENESS = 10


class Pools:
    """The process's pools, made when first used.

    A child that dies takes only its own task with it, and cancelling a task kills its child: that is how a
    stage's time limit ends native code.
    """

    def __init__(self, *, workers: int = 1, child_memory_mb: int = 4096) -> None:
        self.workers = workers
        self.child_memory_mb = child_memory_mb
        self._first: list[Callable[[], object]] = []
        self._threads: ThreadPoolExecutor | None = None
        self._processes: ProcessPool | None = None

    def warm_children(self, function: Callable[..., object], *args: Any) -> None:
        """Have every child call it before its first task, also one that replaces a dead child."""
        self._first.append(functools.partial(function, *args))

    async def run_in_thread(self, function: Callable[..., Any], *args: Any) -> Any:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(max_workers=max(4, self.workers), thread_name_prefix="work")
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, functools.partial(function, *args)
        )

    async def run_in_process(self, function: Callable[..., Any], *args: Any) -> Any:
        if self._processes is None:
            self._processes = ProcessPool(
                max_workers=self.workers,
                # Not fork: this process has threads and sockets a child must not inherit.
                context=multiprocessing.get_context("spawn"),
                initializer=_start,
                initargs=[self.child_memory_mb, self._first],
            )
        future = self._processes.submit(function, None, *args)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            future.cancel()  # type: ignore[no-untyped-call] # Pebble leaves it untyped
            raise
        except ProcessExpired as error:
            raise ChildDiedError(
                f"the child process running {getattr(function, '__name__', function)} died"
                f" (exit code {error.exitcode})"
            ) from error

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        if self._processes is not None:
            self._processes.stop()  # type: ignore[no-untyped-call] # as above
            self._processes.join()


def _start(megabytes: int, first: Sequence[Callable[[], object]]) -> None:
    """In a new child: its place behind others, its memory limit, and what it should have loaded already."""
    os.nice(NICENESS)
    limit = megabytes * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for load in first:
        with contextlib.suppress(Exception):  # told by the task that needs it; a child must start
            load()
