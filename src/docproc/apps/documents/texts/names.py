"""What document types and fields are called; names that nobody translated are shown as they are written."""

from __future__ import annotations

from types import MappingProxyType

from docproc.apps.documents.texts import maybe
from docproc.apps.documents.understanding.types import loader
from docproc.texts import DEFAULT


def type_name(language: str, name: str | None, added: loader.Types = MappingProxyType({})) -> str:
    """`added` are the types of the workflow at hand."""
    with loader.using(added):
        return _type(language, name or "?") or _plain(name or "?")


def type_names(language: str) -> dict[str, str]:
    """All that are known, by name."""
    return {name: type_name(language, name) for name in (*loader.known(), "letter")}


def field_name(language: str, name: str) -> str:
    return _field(language, name) or _plain(name)


def is_type(name: str) -> bool:
    return _type(DEFAULT, name) is not None


def known(language: str, name: str) -> str | None:
    """What a field or a type is called; None where nobody translated it."""
    return _field(language, name) or _type(language, name)


def _field(language: str, name: str) -> str | None:
    return maybe(language, f"field_name_{name}")


def _type(language: str, name: str) -> str | None:
    document_type = loader.known().get(name)
    if document_type is not None and document_type.name:
        return document_type.name.get("es" if language == "es" else "en")
    return maybe(language, f"type_name_{name}")


def _plain(name: str) -> str:
    return name.replace("_", " ")
