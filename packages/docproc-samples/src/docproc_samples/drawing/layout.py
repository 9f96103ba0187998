"""A way to lay out a document, and whether models may learn from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.sheet import Sheet

Draw = Callable[[Sheet, Cast], dict[str, str]]
Choice = Literal["all", "training", "held_out"]


@dataclass(frozen=True)
class Layout:
    """Draws one document on the next pages of a sheet and returns the values printed on it.

    Models are trained on the other layouts only when `held_out`, so that a test on this one says how well
    they read what they have never seen.
    """

    name: str
    draw: Draw
    languages: tuple[str, ...] = ("es", "en")
    held_out: bool = False

    def is_among(self, choice: Choice, language: str) -> bool:
        return language in self.languages and (choice == "all" or self.held_out == (choice == "held_out"))
