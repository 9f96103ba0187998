"""The contract of a filter: a function of pictures whose parameters are checked before it is used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeAlias, TypeVar

from cv2.typing import MatLike
from pydantic import BaseModel, ConfigDict

# Rows × columns × (blue, green, red), 8 bits each.
Image: TypeAlias = MatLike

# Packages offer theirs under this entry point group.
ENTRY_POINT_GROUP = "docproc.video_filters"


class Parameters(BaseModel):
    """The base of a filter's parameters. Unknown ones are refused: a misspelt name must not be ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


P = TypeVar("P", bound=Parameters)


class Filter(ABC, Generic[P]):
    """One effect. The same pictures and parameters give the same result in every process: frames are filtered
    by many workers in any order, sometimes twice, and nobody must be able to tell.

    So a filter keeps nothing from one call to the next. One that compares frames says how many earlier ones
    it needs (`history`) and is given them.
    """

    # As it is called in `--processing` and in chains.
    name: ClassVar[str]
    parameters_model: ClassVar[type[Parameters]]
    history: ClassVar[int] = 0

    def __init__(self, parameters: P) -> None:
        self.parameters = parameters

    @abstractmethod
    def apply(self, frames: Sequence[Image]) -> Image:
        """The filtered last one of `frames`: `history` earlier frames, oldest first, and the frame itself.

        Where the film begins, its first frame stands for the earlier ones. The pictures given must not be
        changed. Returns 8 bits in three channels.
        """

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Of the result, for a frame of this size."""
        return width, height
