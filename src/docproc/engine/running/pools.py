"""Where heavy work runs: threads for what can be trusted, killable child processes for what cannot."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from docproc.engine.running.child import Limits, prepare
from docproc.engine.running.children import Children


class Pools:
    """The process's pools, made when first used.

    A child that dies takes only its own task with it, and cancelling a task kills its child: that is how a
    stage's time limit ends native code.
    """

    def __init__(self, *, workers: int = 1, limits: Limits | None = None) -> None:
        self.workers = workers
        self.limits = limits or Limits()
        self._first: list[Callable[[], object]] = []
        self._threads: ThreadPoolExecutor | None = None
        self._children: Children | None = None

    def warm_children(self, function: Callable[..., object], *args: Any) -> None:
        """Have every child call it before its first task, also one that replaces a dead child."""
        self._first.append(functools.partial(function, *args))

    async def warm_up(self) -> None:
        """Until every child is started and has done what it does before its first task, if it does anything.
        A machine that cannot start them all does not keep the others waiting."""
        if self._first:
            await asyncio.wrap_future(self._started().settled)

    async def run_in_thread(self, function: Callable[..., Any], *args: Any) -> Any:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(max_workers=max(4, self.workers), thread_name_prefix="work")
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, functools.partial(function, *args)
        )

    @property
    def can_work(self) -> bool:
        """False while child processes are needed and none can be started; `/ready` follows it."""
        return self._children is None or self._children.can_work

    async def run_in_process(self, function: Callable[..., Any], *args: Any) -> Any:
        """Raises what the function raises; ChildDiedError when the child dies of it, NoChildError when none
        can be started."""
        children = self._started()
        call = children.submit(function, args)
        try:
            return await asyncio.wrap_future(call.future)
        except asyncio.CancelledError:
            children.cancel(call)
            raise

    def _started(self) -> Children:
        if self._children is None:
            first = functools.partial(prepare, self.limits, self._first)
            # Where starting takes long, all start at once: the second call must not wait for it again.
            self._children = Children(self.workers, first, at_once=bool(self._first))
        return self._children

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        if self._children is not None:
            self._children.close()
