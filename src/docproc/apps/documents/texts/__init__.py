"""What the pages about documents say. `*.yaml` beside this module; here what Python code needs of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from docproc.texts import Catalogue

FOLDER = Path(__file__).parent


@cache
def _catalogue() -> Catalogue:
    return Catalogue(FOLDER)  # when first asked: most processes show no page


def text(language: str, key: str, /, **values: object) -> str:
    """A text with its `{values}` filled in."""
    return _catalogue().text(language, key, **values)


def maybe(language: str, key: str) -> str | None:
    """A text that there may be."""
    return raw(language, key) if key in _catalogue() else None


def raw(language: str, key: str) -> str:
    """As a script of a page fills it in: its `{values}` stay."""
    return _catalogue().raw(language, key)
