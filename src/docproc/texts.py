"""What pages say, in each language: one catalogue of the YAML files (key -> {en, es}) of several folders.

A text about a number may have two forms, `{en: {one: "{number} page", other: "{number} pages"}, es: …}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from docproc.errors import ConfigurationError

LANGUAGES = ("es", "en")
DEFAULT = "en"
# A text that speaks of a number may have two forms; both languages use the first for 1 alone.
ONE, OTHER = "one", "other"
Forms = str | dict[str, str]

# The C loader where PyYAML was built with it: a tenth of the time, before the first page.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Catalogue:
    """The texts of some folders as one. Raises ConfigurationError for a file that cannot be used."""

    def __init__(self, *folders: Path) -> None:
        self._texts: dict[str, dict[str, Forms]] = {}
        origin: dict[str, Path] = {}
        for path in (path for folder in folders for path in sorted(folder.glob("*.yaml"))):
            for key, both in _read(path).items():
                if self._texts.setdefault(key, both) != both:
                    raise ConfigurationError(
                        f"{path}: the text {key!r} says something else in {origin[key]}",
                        remedy="Give one of them another key, or the same words",
                    )
                origin.setdefault(key, path)

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def raw(self, language: str, key: str) -> str:
        """As a script of a page fills it in: its `{values}` stay. Of two forms, the one for many."""
        forms = self._texts[key][language]
        return forms if isinstance(forms, str) else forms[OTHER]

    def forms(self, language: str, key: str) -> dict[str, str]:
        """Both forms for a script, `{"one": …, "other": …}`; they are the same where a text has only one."""
        forms = self._texts[key][language]
        return {ONE: forms, OTHER: forms} if isinstance(forms, str) else forms

    def text(self, language: str, key: str, /, **values: object) -> str:
        """A text with its `{values}` filled in; `number` decides between "1 page" and "2 pages"."""
        is_one = str(values.get("number")) == "1"
        return self.forms(language, key)[ONE if is_one else OTHER].format(**values)

    def beginning(self, language: str, prefix: str) -> dict[str, str]:
        """Texts whose keys are composed: `status_` gives {"completed": …, "failed": …}."""
        return {
            key.removeprefix(prefix): self.raw(language, key) for key in self._texts if key.startswith(prefix)
        }


@cache
def _read(path: Path) -> Mapping[str, dict[str, Forms]]:
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), _LOADER) or {}
        if not isinstance(found, dict):
            raise TypeError("it is no mapping")
    except (OSError, yaml.YAMLError, TypeError) as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error}", remedy="Write it as YAML: key: {en: …, es: …}"
        ) from error
    for key, both in found.items():
        if not _is_complete(both):
            raise ConfigurationError(
                f"{path}: the text {key!r} is not in every language",
                remedy=f"Give it a text, or `one` and `other`, for each of: {', '.join(LANGUAGES)}; quote "
                "words like no and yes",
            )
    texts: dict[str, dict[str, Forms]] = found
    return texts


def _is_complete(both: object) -> bool:
    return (
        isinstance(both, dict)
        and both.keys() == set(LANGUAGES)
        and all(_is_text(one) for one in both.values())
    )


def _is_text(one: object) -> bool:
    if isinstance(one, dict):
        return one.keys() == {ONE, OTHER} and all(map(_is_text, one.values()))
    return isinstance(one, str) and bool(one.strip())


def choose_language(wanted: str | None, accepted: str) -> str:
    """The one asked for, else the browser's first that we speak, else English."""
    if wanted in LANGUAGES:
        return wanted
    ranked = sorted(map(_rank, accepted.split(",")), key=lambda pair: -pair[0])
    return next((language for weight, language in ranked if weight > 0 and language in LANGUAGES), DEFAULT)


def _rank(item: str) -> tuple[float, str]:
    name, _, weight = item.strip().partition(";q=")
    try:
        return float(weight or 1), name[:2].lower()
    except ValueError:
        return 0.0, name[:2].lower()
