"""An invoice while it is drawn: whose it is, how it looks, and what has been printed of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from docproc_samples.drawing import invoice_words
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.identifiers import in_groups
from docproc_samples.drawing.invoice import Invoice
from docproc_samples.drawing.sheet import Sheet
from docproc_samples.drawing.style import Style


@dataclass
class Draft:
    sheet: Sheet
    cast: Cast
    style: Style
    invoice: Invoice
    titled: bool = False
    vendor_shown: bool = False
    printed: dict[str, str] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)  # what is said instead of an invoice's words

    def word(self, name: str) -> str:
        return self.style.label(self.called.get(name) or invoice_words.say(self.cast, name))

    def bare(self, name: str) -> str:
        """A label without its colon, as a column's title."""
        return self.word(name).rstrip(" :")

    def tax_name(self, rate: Decimal | None = None) -> str:
        name = self.invoice.tax_name or {"ES": "IVA", "GB": "VAT", "US": "Sales tax"}[self.cast.country]
        if self.cast.spanish and name == "IVA":
            name = self.cast.random.choice(("IVA", "I.V.A.", "IVA"))
        return name if rate is None else f"{name} {self.cast.percent(rate)}"

    def money(self, amount: Decimal) -> str:
        return self.style.money(amount)

    def number(self, amount: Decimal) -> str:
        return self.style.number(amount)

    # --- what is printed is noted

    def day(self) -> str:
        return self.style.day(self.invoice.day)

    def due(self) -> str:
        self.printed["due_date"] = self.invoice.due.isoformat()
        return self.style.day(self.invoice.due)

    def customer_id(self) -> str:
        """The customer's tax id with its label; nothing where none is printed."""
        number = self.invoice.customer_tax_id
        if not self.cast.spanish and not number.startswith(
            "GB"
        ):  # no business, or none that has such a number
            return ""
        self.printed["customer_tax_id"] = number
        return f"{invoice_words.tax_id_label(self.cast, number)}{self.style.colon} {number}"

    def vendor_id(self) -> str:
        number = self.invoice.vendor.tax_id
        return f"{invoice_words.tax_id_label(self.cast, number)}{self.style.colon} {number}"

    def vendor_lines(self, *, named: bool = True, most: int = 9) -> list[str]:
        vendor = self.invoice.vendor
        self.vendor_shown = self.vendor_shown or named
        lines = [vendor.address.street, vendor.address.town, self.vendor_id()]
        extras = [f"Tel. {vendor.phone}", vendor.mail, f"www.{vendor.domain}"]
        lines += extras[: self.cast.random.randint(0, 3)]
        return ([vendor.name] if named else []) + lines[:most]

    def account(self) -> str:
        if self.cast.country == "US":
            return f"Routing 000{self.cast.digits(6)} · Account {self.cast.digits(9)}"
        return in_groups(self.invoice.vendor.iban)

    def fields(self) -> dict[str, str]:
        return {**self.invoice.fields(self.cast.currency), **self.printed}
