"""Realistic Spanish and English documents with labels, to try the system on and to test it."""

from docproc.apps.documents.samples.catalogue import KINDS, write
from docproc.apps.documents.samples.labels import LABELS_FILE, LabelledDocument, Sample, write_labels
from docproc.apps.documents.samples.layout import Choice, Layout
from docproc.apps.documents.samples.layouts import LAYOUTS
from docproc.apps.documents.samples.packets import packet

__all__ = [
    "KINDS",
    "LABELS_FILE",
    "LAYOUTS",
    "Choice",
    "LabelledDocument",
    "Layout",
    "Sample",
    "packet",
    "write",
    "write_labels",
]
