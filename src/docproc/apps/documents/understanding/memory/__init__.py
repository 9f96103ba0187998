"""What people corrected, remembered by layout: the next document that looks the same is read right."""

from docproc.apps.documents.understanding.memory.examples import (
    Example,
    Lesson,
    ValuePlace,
    learn,
    pack,
    unpack,
)
from docproc.apps.documents.understanding.memory.fingerprints import (
    Fingerprint,
    fingerprint,
    keys,
    similarity,
)
from docproc.apps.documents.understanding.memory.recall import recall

__all__ = [
    "Example",
    "Fingerprint",
    "Lesson",
    "ValuePlace",
    "fingerprint",
    "keys",
    "learn",
    "pack",
    "recall",
    "similarity",
    "unpack",
]
