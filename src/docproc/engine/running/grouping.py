"""Group commit for whoever comes one by one: those who arrive while a commit is under way share the next."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from docproc.engine.store.session import is_contention, is_passing

T = TypeVar("T")
R = TypeVar("R")

# In one transaction, at the most.
MOST_TOGETHER = 100


class Grouping(Generic[T, R]):
    """`commit` writes some items in one transaction, or raises and leaves nothing behind.

    A group that fails is committed again one by one, so everybody gets the error of their own. Where nobody
    knows whether the commit went through (the connection was lost), all of the group are told so instead.
    """

    def __init__(
        self,
        commit: Callable[[Sequence[T]], Awaitable[R]],
        most: int = MOST_TOGETHER,
        is_somebodys_own: Callable[[Exception], bool] = lambda error: (
            is_contention(error) or not is_passing(error)
        ),
    ) -> None:
        """`is_somebodys_own`: whether an error may be that of one item only."""
        self._commit = commit
        self._most = most
        self._is_somebodys_own = is_somebodys_own
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._running: asyncio.Task[None] | None = None

    async def add(self, item: T) -> R:
        """Until it is committed: what `commit` said of its group; raises what became of it."""
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        if self._running is None:
            self._running = asyncio.create_task(self._run(), name="group commit")
        return await done

    async def _run(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._commit_group([one for one in group if not one[1].done()])
        finally:
            self._running = None
            for _, done in self._waiting:  # only where this was cancelled
                done.cancel()
            self._waiting.clear()

    async def _commit_group(self, group: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        if not group:
            return
        try:
            found = await self._commit([item for item, _ in group])
        except Exception as error:  # noqa: BLE001 # whoever waits for it is told
            if len(group) > 1 and self._is_somebodys_own(error):
                for one in group:
                    await self._commit_group([one])
                return
            for _, done in group:
                if not done.done():
                    done.set_exception(error)
        except BaseException:
            for _, done in group:
                done.cancel()
            raise
        else:
            for _, done in group:
                if not done.done():
                    done.set_result(found)
