"""What is printed on pages of each type, as recipes that `made_up` cooks into ever different pages."""

from docproc.apps.documents.quality.training.recipes.bank_statement import BANK_STATEMENT
from docproc.apps.documents.quality.training.recipes.contract import CONTRACT, CONTRACT_CONTINUED
from docproc.apps.documents.quality.training.recipes.id_card import ID_CARD
from docproc.apps.documents.quality.training.recipes.invoice import INVOICE, INVOICE_CONTINUED
from docproc.apps.documents.quality.training.recipes.other import OTHER
from docproc.apps.documents.quality.training.recipes.payslip import PAYSLIP
from docproc.apps.documents.quality.training.recipes.receipt import RECEIPT
from docproc.apps.documents.quality.training.recipes.recipe import Recipe

__all__ = [
    "BANK_STATEMENT",
    "CONTRACT",
    "CONTRACT_CONTINUED",
    "ID_CARD",
    "INVOICE",
    "INVOICE_CONTINUED",
    "OTHER",
    "PAYSLIP",
    "RECEIPT",
    "Recipe",
]
