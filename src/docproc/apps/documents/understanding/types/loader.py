"""The types there are: those that come with DocProc, read from the files beside this module, and those that a
workflow adds. Both are a `DocumentType` and are completed alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import ValidationError

from docproc.apps.documents.understanding.types.document_type import DocumentType
from docproc.errors import ConfigurationError

SHIPPED = Path(__file__).parent

# The C loader where PyYAML was built with it: a tenth of the time.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Types = Mapping[str, DocumentType]

_NONE: Types = MappingProxyType({})
_added: ContextVar[Types] = ContextVar("types", default=_NONE)


def read_types(folder: Path) -> dict[str, DocumentType]:
    """The types of a folder by name, which is that of the file, in their order.

    Raises ConfigurationError, with the file and the place in it.
    """
    written = {path.stem: _read(path) for path in sorted(folder.glob("*.yaml"))}
    whole = {}
    for name, one in written.items():
        try:
            whole[name] = complete(one, written)
        except ValueError as error:
            raise ConfigurationError(f"{folder / name}.yaml: {error}", remedy=_REMEDY) from error
    return dict(sorted(whole.items(), key=lambda item: (item[1].order, item[0])))


_REMEDY = "Its keys are explained in docs/reference/workflow.md#types"


def complete(one: DocumentType, others: Types) -> DocumentType:
    """With the fields of the type that it is `like`; raises ValueError for what cannot be."""
    if one.like is not None:
        if one.like not in others:
            raise ValueError(f"`like` names {one.like!r}; there are {', '.join(sorted(others)) or 'none'}")
        # Without itself, so that two that are like each other end here.
        rest = {name: other for name, other in others.items() if name != one.like}
        one = one.over(complete(others[one.like], rest))
    lacking = [name for name, field in one.fields.items() if field.kind is None]
    if lacking:
        raise ValueError(f"say of {', '.join(lacking)} what it is, such as `kind: amount`")
    return one


def _read(path: Path) -> DocumentType:
    try:
        return DocumentType.model_validate(yaml.load(path.read_text(encoding="utf-8"), _LOADER))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}", remedy="Write it as YAML") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigurationError(f"{path}: {place}: {first['msg']}", remedy=_REMEDY) from error


@cache
def shipped() -> Types:
    """The types that come with DocProc, in their order."""
    return MappingProxyType(read_types(SHIPPED))


@contextmanager
def using(added: Types) -> Iterator[None]:
    """Within the block, these types come beside the shipped ones, or in their place. They are complete."""
    token = _added.set(added)
    try:
        yield
    finally:
        _added.reset(token)


def known() -> Types:
    """The types there are."""
    added = _added.get()
    return {**shipped(), **added} if added else shipped()


def version_of(name: str) -> str:
    """Whatever is made of a type is made again where this differs; shipped types stay as they are."""
    added = _added.get().get(name)
    return added.model_dump_json() if added else ""
