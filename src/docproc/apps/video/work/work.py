"""The contract of those who filter frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from docproc.apps.video.frames.job import Job


class FrameWork(ABC):
    """Takes frames to be filtered. The result is files: a frame's PNG and JSON, or its failure.

    Handing over the same frame twice does no harm.
    """

    @abstractmethod
    async def send(self, job: Job) -> None:
        """Returns when somebody has taken it; waits while nobody can."""

    async def send_lost(self, waiting: Mapping[int, Job]) -> Sequence[int]:
        """Asked now and then about the frames that did not come yet: hand over again those that nobody has
        any more, and say which. The default trusts its workers."""
        return ()

    async def close(self) -> None:
        """The film is over, whatever became of it."""
