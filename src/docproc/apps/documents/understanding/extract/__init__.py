"""Fields from the pages of a document: `extract` finds values by labels, looks, sums and check digits."""

from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue

__all__ = ["FieldSpec", "FieldValue", "extract"]
