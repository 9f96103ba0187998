"""Fixtures: unfold a file made on the fly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docproc.reading.files.unfold import FoundFile, unfold

Unfold = Callable[..., list[FoundFile]]


@pytest.fixture
def unfolded(tmp_path: Path) -> Unfold:
    """Unfold bytes under a name; keyword arguments go to `unfold`."""

    def of(content: bytes, name: str = "sent.bin", **options: Any) -> list[FoundFile]:
        path = tmp_path / "upload"
        path.write_bytes(content)
        return unfold(path, name, tmp_path / "work", **options)

    return of
