"""Fields from the pages of a document: `extract` finds values by labels, looks, sums and check digits."""

from docproc.understanding.extract.document import extract
from docproc.understanding.extract.spec import FieldSpec, FieldValue

__all__ = ["FieldSpec", "FieldValue", "extract"]
