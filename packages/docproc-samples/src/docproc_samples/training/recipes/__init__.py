"""What is printed on pages of each type, as recipes that `made_up` cooks into ever different pages."""

from docproc_samples.training.recipes.bank_statement import BANK_STATEMENT
from docproc_samples.training.recipes.contract import CONTRACT, CONTRACT_CONTINUED
from docproc_samples.training.recipes.id_card import ID_CARD
from docproc_samples.training.recipes.invoice import INVOICE, INVOICE_CONTINUED, INVOICE_EUROPE
from docproc_samples.training.recipes.later import LATER
from docproc_samples.training.recipes.other import OTHER
from docproc_samples.training.recipes.payslip import PAYSLIP
from docproc_samples.training.recipes.receipt import RECEIPT
from docproc_samples.training.recipes.recipe import Recipe

__all__ = [
    "BANK_STATEMENT",
    "CONTRACT",
    "CONTRACT_CONTINUED",
    "ID_CARD",
    "INVOICE",
    "INVOICE_CONTINUED",
    "INVOICE_EUROPE",
    "LATER",
    "OTHER",
    "PAYSLIP",
    "RECEIPT",
    "Recipe",
]
