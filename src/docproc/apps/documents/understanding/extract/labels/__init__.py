"""The words that point at fields, in folded writing, by document type and field.

`#` in a label stands for any way to write "number". A label is worth more the less else it could mean; DECOYS
are the phrases that contain a label but mean something else, so that the longer one wins.
"""

from __future__ import annotations

from docproc.apps.documents.understanding.extract.labels.bank_statement import BANK_STATEMENT
from docproc.apps.documents.understanding.extract.labels.contract import CONTRACT
from docproc.apps.documents.understanding.extract.labels.decoys import DECOYS
from docproc.apps.documents.understanding.extract.labels.id_card import ID_CARD
from docproc.apps.documents.understanding.extract.labels.invoice import INVOICE, RECEIPT
from docproc.apps.documents.understanding.extract.labels.payslip import PAYSLIP
from docproc.apps.documents.understanding.extract.labels.rule import Kind, Labels, Rule

__all__ = ["DECOYS", "RULES", "SUMS", "Kind", "Labels", "Rule"]

RULES: dict[str, dict[str, Rule]] = {
    "invoice": INVOICE,
    "receipt": RECEIPT,
    "id_card": ID_CARD,
    "payslip": PAYSLIP,
    "contract": CONTRACT,
    "bank_statement": BANK_STATEMENT,
}

# What an amount adds up to: the first two make the third.
SUMS: dict[str, tuple[str, str, str]] = {
    "invoice": ("net_amount", "tax_amount", "total_amount"),
    "receipt": ("net_amount", "tax_amount", "total_amount"),
    "payslip": ("net_amount", "total_deductions", "gross_amount"),
}
