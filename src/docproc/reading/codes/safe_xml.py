"""XML from strangers: no document type, no entities, no more than an invoice needs; read by local names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, tostring

import defusedxml.ElementTree as Safe
from defusedxml import DefusedXmlException

MOST_BYTES = 20_000_000  # an invoice may carry its own PDF, in letters
_MOST_KEPT = 200_000
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
# What makes invoices large and says nothing of them: signatures, and files within the file.
_HEAVY = frozenset({"Signature", "AttachmentData", "AttachmentBinaryObject", "EmbeddedDocumentBinaryObject"})


def parse(text: str | bytes) -> Element | None:
    """The root, or None for what is not XML, too large, or tries more than data should."""
    if len(text) > MOST_BYTES:
        return None
    if isinstance(text, str):  # the encoding it declares is no longer its own
        text = _DECLARATION.sub("", text)
    try:
        root: Element = Safe.fromstring(text, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError, RecursionError):
        return None
    return root


def light(root: Element) -> str | None:
    """The tree as text without what is heavy; None when even so it is more than an invoice."""
    for parent in list(root.iter()):
        for child in list(parent):
            if name(child) in _HEAVY:
                parent.remove(child)
    text = tostring(root, encoding="unicode")
    return text if len(text) <= _MOST_KEPT else None


def name(element: Element) -> str:
    """Without the namespace: versions differ in it and in nothing else that matters here."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def all_of(element: Element | None, *path: str) -> Iterator[Element]:
    """The elements at the end of a path of local names."""
    if element is None:
        return
    if not path:
        yield element
        return
    for child in element:
        if name(child) == path[0]:
            yield from all_of(child, *path[1:])


def one(element: Element | None, *path: str) -> Element | None:
    return next(all_of(element, *path), None)


def text(element: Element | None, *path: str) -> str:
    """What the first element at the path says; empty without one."""
    found = one(element, *path)
    return " ".join((found.text or "").split()) if found is not None else ""
