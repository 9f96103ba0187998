"""Labelled folders: documents, and `labels.jsonl`, which says what is in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from docproc.errors import UsageError

LABELS_FILE = "labels.jsonl"
ALL = "all"  # the name under which all folders are reported together
_EXAMPLE = (
    '{"file": "a.pdf", "documents": [{"doc_type": "invoice", "page_indices": [0], "fields": {"date": "…"}}]}'
)


class LabelledDocument(BaseModel):
    """A document and its values: None or "" is a value that is not there; what is left out is unknown.

    Keys beside these only inform.
    """

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    doc_type: str = Field(min_length=1)
    page_indices: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
    fields: dict[str, str | None] = Field(default_factory=dict)

    @field_validator("fields", mode="before")
    @classmethod
    def _without_tables(cls, value: Any) -> Any:
        """Rows of a table are not compared (yet)."""
        if not isinstance(value, dict):
            return value
        return {name: one for name, one in value.items() if not isinstance(one, list | dict)}

    @property
    def pages(self) -> frozenset[int]:
        return frozenset(self.page_indices)


class LabelledFile(BaseModel):
    """One line: a file and its documents."""

    model_config = ConfigDict(frozen=True)

    file: str = Field(min_length=1)
    documents: tuple[LabelledDocument, ...]

    @model_validator(mode="after")
    def _each_page_once(self) -> LabelledFile:
        indices = [index for document in self.documents for index in document.page_indices]
        if twice := sorted({index for index in indices if indices.count(index) > 1}):
            raise ValueError(f"page {twice[0]} stands in two documents")
        return self


@dataclass(frozen=True)
class Folder:
    """A labelled folder, under the name it is reported by."""

    name: str
    path: Path
    files: tuple[LabelledFile, ...]

    def path_of(self, file: LabelledFile) -> Path:
        return self.path / file.file


def read(directories: Sequence[Path], limit: int | None = None) -> list[Folder]:
    """The labelled folders among `directories` and below; raises UsageError naming file, line and remedy."""
    paths = list(dict.fromkeys(path for given in directories for path in _labelled(given)))
    names = _names(paths)
    return [Folder(name, path, tuple(_files(path))[:limit]) for name, path in zip(names, paths, strict=True)]


def _labelled(directory: Path) -> list[Path]:
    path = directory.resolve()
    if (path / LABELS_FILE).is_file():
        return [path]
    below = sorted(labels.parent for labels in path.rglob(LABELS_FILE)) if path.is_dir() else []
    if not below:
        what = f"there is no {LABELS_FILE} in" if path.is_dir() else "there is no folder"
        raise UsageError(
            f"{what} {directory}",
            remedy=f"Name a folder with documents and a {LABELS_FILE} of lines like {_EXAMPLE}",
        )
    return below


def _names(paths: Sequence[Path]) -> list[str]:
    """The last name of each; where that is not enough to tell them apart, more of the path."""
    names = []
    for path in paths:
        others = [other for other in paths if other != path]
        for length in range(1, len(path.parts) + 1):
            name = "/".join(path.parts[-length:])
            if name != ALL and all("/".join(other.parts[-length:]) != name for other in others):
                break
        names.append(name)
    return names


def _files(folder: Path) -> Iterator[LabelledFile]:
    path = folder / LABELS_FILE
    seen: dict[str, int] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if not line.strip():
            continue
        file = _parsed(line, path, number)
        if not (folder / file.file).is_file():
            raise _broken(
                path, number, f"{file.file} does not exist", f"Put it into {folder}, or take out the line"
            )
        if file.file in seen:
            raise _broken(
                path, number, f"{file.file} stands on line {seen[file.file]}, too", "Keep one of them"
            )
        seen[file.file] = number
        yield file
    if not seen:
        raise _broken(path, 1, "it has no line", f"Write a line for each file, like {_EXAMPLE}")


def _parsed(line: str, path: Path, number: int) -> LabelledFile:
    try:
        return LabelledFile.model_validate(json.loads(line))
    except json.JSONDecodeError as error:
        raise _broken(path, number, f"not JSON: {error.msg}", f"Write it like {_EXAMPLE}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the line"
        problem = first["msg"].removeprefix("Value error, ")
        raise _broken(path, number, f"{where}: {problem}", f"Write it like {_EXAMPLE}") from error


def _broken(path: Path, line: int, problem: str, remedy: str) -> UsageError:
    return UsageError(f"{path}:{line}: {problem}", remedy=remedy)
