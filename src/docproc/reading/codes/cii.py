"""Factur-X and ZUGFeRD: the invoice of UN/CEFACT's Cross Industry Invoice."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from docproc.reading.codes.amounts import amount, iso_day, told
from docproc.reading.codes.safe_xml import all_of, name, one, text


def invoices(root: Element) -> list[dict[str, str]]:
    """The invoice, as a list of one. ZUGFeRD 1 has other words for the same places."""
    head = _child(root, "ExchangedDocument", "HeaderExchangedDocument")
    deal = _child(root, "SupplyChainTradeTransaction", "SpecifiedSupplyChainTradeTransaction")
    agreement = _child(deal, "ApplicableHeaderTradeAgreement", "ApplicableSupplyChainTradeAgreement")
    settlement = _child(deal, "ApplicableHeaderTradeSettlement", "ApplicableSupplyChainTradeSettlement")
    if head is None or settlement is None:
        return []
    seller, buyer = one(agreement, "SellerTradeParty"), one(agreement, "BuyerTradeParty")
    return [
        told(
            {
                "invoice_number": text(head, "ID"),
                "date": _day(one(head, "IssueDateTime")),
                "vendor_name": text(seller, "Name"),
                "vendor_tax_id": _tax_id(seller),
                "customer_name": text(buyer, "Name"),
                "customer_tax_id": _tax_id(buyer),
            }
            | _money(settlement)
        )
    ]


def _money(settlement: Element) -> dict[str, str]:
    currency = text(settlement, "InvoiceCurrencyCode")
    sums = _child(
        settlement,
        "SpecifiedTradeSettlementHeaderMonetarySummation",
        "SpecifiedTradeSettlementMonetarySummation",
    )
    means = one(settlement, "SpecifiedTradeSettlementPaymentMeans")
    return {
        "currency": currency,
        "total_amount": amount(text(sums, "GrandTotalAmount")),
        "net_amount": amount(text(sums, "TaxBasisTotalAmount")),
        "tax_amount": amount(_in_currency(sums, currency)),
        "due_date": _day(one(settlement, "SpecifiedTradePaymentTerms", "DueDateDateTime")),
        "iban": text(means, "PayeePartyCreditorFinancialAccount", "IBANID").replace(" ", ""),
    }


def _in_currency(sums: Element | None, currency: str) -> str:
    """The tax may be told twice: in the invoice's currency and in that of the tax office."""
    told_twice = list(all_of(sums, "TaxTotalAmount"))
    for each in told_twice:
        if each.get("currencyID", currency) == currency:
            return each.text or ""
    return ""


def _tax_id(party: Element | None) -> str:
    """The VAT number, else the number at the local tax office."""
    numbers = {
        found.get("schemeID", "VA"): (found.text or "").strip()
        for found in all_of(party, "SpecifiedTaxRegistration", "ID")
    }
    return numbers.get("VA") or numbers.get("FC", "")


def _day(element: Element | None) -> str:
    return iso_day(text(element, "DateTimeString") or text(element, "DateTime"))


def _child(element: Element | None, *names: str) -> Element | None:
    return next((child for child in element if name(child) in names), None) if element is not None else None
