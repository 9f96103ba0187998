"""Lists of words that belong to no single type: data files, sorted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_words(name: str) -> Any:
    """The content of `name`.yaml: a list, or lists by name."""
    return yaml.load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), _LOADER)
