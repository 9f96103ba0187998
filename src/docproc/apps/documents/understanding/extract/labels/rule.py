"""What is known of a field: its kind, and the words that stand before or above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "amount", "date", "number", "tax_id", "iban", "name", "place_name", "period", "currency", "text"
]
Labels = tuple[tuple[float, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a field is looked for. `bottom`: what the foot of the page is worth, or, below zero, its head."""

    kind: Kind
    labels: Labels = ()
    bottom: float = 0.0
    alone: float = -1.0  # the score of a value of this kind without any label
    block: bool = False  # a name may stand some lines below its label
