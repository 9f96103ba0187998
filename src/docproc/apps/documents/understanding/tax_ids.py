"""Spanish tax ids (NIF, NIE, CIF) as they stand in the folded text of a page, with or without separators."""

from __future__ import annotations

import re

TAX_ID = re.compile(
    r"\b(?:[a-hj-np-suvw][ .-]?\d{7}[ .-]?[0-9a-j]|\d{8}[ .-]?[a-z]|[xyz][ .-]?\d{7}[ .-]?[a-z])\b"
)


def compact(printed: str) -> str:
    """Without separators: the same id, however it is written."""
    return re.sub(r"[ .-]", "", printed)
