"""Facturae 3.x, the electronic invoice of the Spanish administration."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from docproc.reading.codes.amounts import amount, iso_day, told
from docproc.reading.codes.safe_xml import all_of, one, text

_SIMPLIFIED = "FA"  # "factura abreviada"


def invoices(root: Element) -> list[dict[str, str]]:
    """Each invoice of the batch."""
    parties = one(root, "Parties")
    named = _party("vendor", one(parties, "SellerParty")) | _party("customer", one(parties, "BuyerParty"))
    return [told(named | _invoice(each)) for each in all_of(root, "Invoices", "Invoice")]


def is_simplified(root: Element) -> bool:
    kinds = [
        text(each, "InvoiceHeader", "InvoiceDocumentType") for each in all_of(root, "Invoices", "Invoice")
    ]
    return bool(kinds) and all(kind == _SIMPLIFIED for kind in kinds)


def _invoice(invoice: Element) -> dict[str, str]:
    head, issue, sums = (
        one(invoice, part) for part in ("InvoiceHeader", "InvoiceIssueData", "InvoiceTotals")
    )
    payment = one(invoice, "PaymentDetails", "Installment")
    account = one(payment, "AccountToBeCredited")
    return {
        "invoice_number": text(head, "InvoiceSeriesCode") + text(head, "InvoiceNumber"),
        "date": iso_day(text(issue, "IssueDate")),
        "currency": text(issue, "InvoiceCurrencyCode"),
        "total_amount": amount(text(sums, "InvoiceTotal")),
        "net_amount": amount(text(sums, "TotalGrossAmountBeforeTaxes")),
        "tax_amount": amount(text(sums, "TotalTaxOutputs")),
        "due_date": iso_day(text(payment, "InstallmentDueDate")),
        "iban": text(account, "IBAN").replace(" ", ""),
    }


def _party(role: str, party: Element | None) -> dict[str, str]:
    person = one(party, "Individual")
    names = [text(person, part) for part in ("Name", "FirstSurname", "SecondSurname")]
    return {
        f"{role}_name": text(party, "LegalEntity", "CorporateName") or " ".join(filter(None, names)),
        f"{role}_tax_id": text(party, "TaxIdentification", "TaxIdentificationNumber"),
    }
