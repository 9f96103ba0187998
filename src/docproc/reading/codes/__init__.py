"""What was made for machines: barcodes on a page and data attached to a file, and what they say."""

from docproc.reading.codes.claims import Claim, claims
from docproc.reading.codes.hint import type_hint

__all__ = ["Claim", "claims", "type_hint"]
