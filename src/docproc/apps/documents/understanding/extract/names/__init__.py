"""Names of companies and people: what stands beside a label, over an address, and what a letterhead says."""

from docproc.apps.documents.understanding.extract.names.by_address import addressed
from docproc.apps.documents.understanding.extract.names.by_label import labelled, over
from docproc.apps.documents.understanding.extract.names.letterheads import letterhead
from docproc.apps.documents.understanding.extract.names.vendors import owners, signs

__all__ = ["addressed", "labelled", "letterhead", "over", "owners", "signs"]
