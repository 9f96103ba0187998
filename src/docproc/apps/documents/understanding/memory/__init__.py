"""What people corrected, remembered by layout: the next document that looks the same is read right."""

from docproc.apps.documents.understanding.memory.examples import Example, Lesson, Place, learn, pack, unpack
from docproc.apps.documents.understanding.memory.layouts import Layout, fingerprint, keys, similarity
from docproc.apps.documents.understanding.memory.recall import recall

__all__ = [
    "Example",
    "Layout",
    "Lesson",
    "Place",
    "fingerprint",
    "keys",
    "learn",
    "pack",
    "recall",
    "similarity",
    "unpack",
]
