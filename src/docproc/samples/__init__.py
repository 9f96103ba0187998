"""Realistic Spanish and English documents with labels, to try the system on and to test it."""

from docproc.samples.catalogue import KINDS, write
from docproc.samples.labels import LABELS_FILE, LabelledDocument, Sample, write_labels
from docproc.samples.layout import Choice, Layout
from docproc.samples.layouts import LAYOUTS
from docproc.samples.packets import packet

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
