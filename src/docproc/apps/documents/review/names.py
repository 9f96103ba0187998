"""What document types and fields are called; names that nobody translated are shown as they are written."""

from __future__ import annotations

TYPES: dict[str, tuple[str, str]] = {
    "invoice": ("Invoice", "Factura"),
    "id_card": ("Identity card", "Documento de identidad"),
    "payslip": ("Payslip", "Nómina"),
    "receipt": ("Receipt", "Recibo o tique"),
    "contract": ("Contract", "Contrato"),
    "bank_statement": ("Bank statement", "Extracto bancario"),
    "letter": ("Letter", "Carta"),
    "other": ("Other", "Otro"),
}

FIELDS: dict[str, tuple[str, str]] = {
    "account_holder": ("Account holder", "Titular de la cuenta"),
    "amount": ("Amount", "Importe"),
    "closing_balance": ("Closing balance", "Saldo final"),
    "company_name": ("Company", "Empresa"),
    "company_tax_id": ("Company's tax number", "NIF de la empresa"),
    "currency": ("Currency", "Moneda"),
    "customer_name": ("Customer", "Cliente"),
    "customer_tax_id": ("Customer's tax number", "NIF del cliente"),
    "date": ("Date", "Fecha"),
    "date_of_birth": ("Date of birth", "Fecha de nacimiento"),
    "description": ("Description", "Descripción"),
    "due_date": ("Due date", "Fecha de vencimiento"),
    "employee_name": ("Employee", "Trabajador"),
    "employee_tax_id": ("Employee's tax number", "NIF del trabajador"),
    "expiry_date": ("Expiry date", "Fecha de caducidad"),
    "full_name": ("Full name", "Nombre completo"),
    "gross_amount": ("Gross amount", "Total devengado"),
    "iban": ("IBAN", "IBAN"),
    "id_number": ("Document number", "Número de documento"),
    "invoice_number": ("Invoice number", "Número de factura"),
    "line_items": ("Line items", "Líneas"),
    "nationality": ("Nationality", "Nacionalidad"),
    "net_amount": ("Net amount", "Importe neto"),
    "party_a": ("First party", "Primera parte"),
    "party_b": ("Second party", "Segunda parte"),
    "period": ("Period", "Periodo"),
    "quantity": ("Quantity", "Cantidad"),
    "surcharge_amount": ("Surcharges", "Recargos y suplidos"),
    "tax_amount": ("Tax", "IVA"),
    "total_amount": ("Total amount", "Importe total"),
    "total_deductions": ("Total deductions", "Total a deducir"),
    "unit_price": ("Unit price", "Precio unitario"),
    "vendor_name": ("Vendor", "Proveedor"),
    "vendor_tax_id": ("Vendor's tax number", "NIF del proveedor"),
    "withheld_amount": ("Tax withheld", "Retención (IRPF)"),
}


def type_name(language: str, name: str | None) -> str:
    return _name(TYPES, language, name or "?")


def field_name(language: str, name: str) -> str:
    return _name(FIELDS, language, name)


def known(language: str, name: str) -> str | None:
    """What a field or a type is called; None where nobody translated it."""
    both = FIELDS.get(name) or TYPES.get(name)
    return both[language == "es"] if both else None


def _name(known: dict[str, tuple[str, str]], language: str, name: str) -> str:
    if name in known:
        return known[name][language == "es"]
    return name.replace("_", " ")
