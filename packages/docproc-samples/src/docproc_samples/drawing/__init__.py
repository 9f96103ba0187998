"""Realistic Spanish and English documents with labels, to try the system on and to test it."""

from docproc_samples.drawing.catalogue import KINDS, write
from docproc_samples.drawing.labels import LABELS_FILE, LabelledDocument, Sample, write_labels
from docproc_samples.drawing.layout import Choice, Layout
from docproc_samples.drawing.layouts import LAYOUTS
from docproc_samples.drawing.packets import packet

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
