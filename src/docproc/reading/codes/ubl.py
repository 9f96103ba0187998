"""UBL 2.1 invoices and credit notes, as Peppol and XRechnung send them."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from docproc.reading.codes.amounts import amount, iso_day, told
from docproc.reading.codes.safe_xml import all_of, one, text


def invoices(root: Element) -> list[dict[str, str]]:
    """The invoice, as a list of one."""
    sums, currency = one(root, "LegalMonetaryTotal"), text(root, "DocumentCurrencyCode")
    fields = {
        "invoice_number": text(root, "ID"),
        "date": iso_day(text(root, "IssueDate")),
        "due_date": iso_day(text(root, "DueDate")),
        "currency": currency,
        "total_amount": amount(text(sums, "TaxInclusiveAmount") or text(sums, "PayableAmount")),
        "net_amount": amount(text(sums, "TaxExclusiveAmount")),
        "tax_amount": amount(_tax(root, currency)),
        "iban": text(root, "PaymentMeans", "PayeeFinancialAccount", "ID").replace(" ", ""),
    }
    seller = _party("vendor", one(root, "AccountingSupplierParty", "Party"))
    return [told(fields | seller | _party("customer", one(root, "AccountingCustomerParty", "Party")))]


def _tax(root: Element, currency: str) -> str:
    for found in all_of(root, "TaxTotal", "TaxAmount"):
        if found.get("currencyID", currency) == currency:
            return found.text or ""
    return ""


def _party(role: str, party: Element | None) -> dict[str, str]:
    return {
        f"{role}_name": text(party, "PartyLegalEntity", "RegistrationName")
        or text(party, "PartyName", "Name"),
        f"{role}_tax_id": text(party, "PartyTaxScheme", "CompanyID"),
    }
