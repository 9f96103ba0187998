"""All layouts of each kind of document."""

from __future__ import annotations

from docproc_samples.drawing import (
    bank_statement,
    bank_statement_variants,
    contract,
    contract_variants,
    id_card,
    id_card_variants,
    invoice_bills,
    invoice_composed,
    invoice_europe,
    invoice_layouts,
    invoice_long_bills,
    invoice_trades,
    letter,
    other_forms,
    other_people,
    other_trade,
    payslip,
    payslip_others,
    receipt,
    receipt_shops,
)
from docproc_samples.drawing.layout import Choice, Layout

LAYOUTS: dict[str, tuple[Layout, ...]] = {
    "invoice": (
        *invoice_layouts.LAYOUTS,
        *invoice_composed.LAYOUTS,
        *invoice_bills.LAYOUTS,
        *invoice_trades.LAYOUTS,
        *invoice_long_bills.LAYOUTS,
        *invoice_europe.LAYOUTS,
    ),
    "id_card": (*id_card.LAYOUTS, *id_card_variants.LAYOUTS),
    "payslip": (*payslip.LAYOUTS, *payslip_others.LAYOUTS),
    "receipt": (*receipt.LAYOUTS, *receipt_shops.LAYOUTS),
    "contract": (*contract.LAYOUTS, *contract_variants.LAYOUTS),
    "bank_statement": (*bank_statement.LAYOUTS, *bank_statement_variants.LAYOUTS),
    "other": (*letter.LAYOUTS, *other_trade.LAYOUTS, *other_people.LAYOUTS, *other_forms.LAYOUTS),
}


def of(kind: str, language: str, choice: Choice = "all") -> list[Layout]:
    return [layout for layout in LAYOUTS[kind] if layout.is_among(choice, language)]
