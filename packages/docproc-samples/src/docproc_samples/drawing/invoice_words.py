"""The labels of invoices, each in the many ways they are printed."""

from __future__ import annotations

from docproc_samples.drawing.cast import Cast

WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "title": (
        ("FACTURA", "FACTURA", "Factura", "FACTURA DE VENTA", "Factura de venta"),
        ("INVOICE", "INVOICE", "Invoice", "Tax Invoice", "TAX INVOICE", "Sales invoice"),
    ),
    "number": (
        ("Nº factura", "Factura nº", "Número de factura", "Nº de factura", "Núm. factura", "Factura",
         "Nº Fra.", "Número", "Factura Núm.", "Num. Factura", "Nº"),
        ("Invoice no.", "Invoice number", "Invoice #", "Invoice No", "Invoice ID", "Number", "Invoice"),
    ),
    "date": (
        ("Fecha", "Fecha factura", "Fecha de factura", "Fecha de emisión", "Fecha emisión", "F. factura",
         "Fecha expedición"),
        ("Date", "Invoice date", "Date of issue", "Issue date", "Issued", "Billing date", "Tax point"),
    ),
    "due": (
        ("Vencimiento", "Fecha de vencimiento", "Fecha vto.", "Vto.", "Fecha vencimiento"),
        ("Due date", "Payment due", "Due", "Pay by", "Payment due date"),
    ),
    "order": (
        ("Su pedido", "Pedido nº", "Nº pedido", "Albarán", "Nº albarán", "Ref. pedido"),
        ("PO number", "Your order", "Order no.", "P.O. #", "Customer PO", "Reference"),
    ),
    "client_code": (
        ("Cód. cliente", "Código cliente", "Nº cliente", "Cliente nº"),
        ("Customer no.", "Account no.", "Customer ID", "Account"),
    ),
    "customer": (
        ("Cliente", "Facturar a", "Datos del cliente", "Datos de facturación", "Destinatario", "Facturado a",
         "Receptor"),
        ("Bill to", "Customer", "Billed to", "Invoice to", "Sold to", "To", "Client"),
    ),
    "vendor": (
        ("Emisor", "Datos del emisor", "Proveedor", "Datos fiscales", "De"),
        ("From", "Seller", "Supplier", "Vendor", "Our details"),
    ),
    "net": (
        ("Base imponible", "Base Imponible", "Subtotal", "Base imp.", "Importe neto", "Total neto",
         "Suma", "Total base imponible", "Base"),
        ("Subtotal", "Net amount", "Net total", "Total excl. VAT", "Sub-total", "Total net"),
    ),
    "tax": (
        ("IVA", "I.V.A.", "Total IVA", "Cuota IVA", "Importe IVA", "Impuestos", "IVA Total"),
        ("VAT", "VAT amount", "Total VAT", "Tax", "VAT total"),
    ),
    "withheld": (
        ("Retención IRPF", "I.R.P.F.", "IRPF", "Ret. IRPF", "Retención", "Retención I.R.P.F."),
        ("Withholding",),
    ),
    "total": (
        ("TOTAL", "Total factura", "TOTAL FACTURA", "Total a pagar", "TOTAL A PAGAR", "Importe total",
         "Total", "TOTAL EUROS", "TOTAL IMPORTE", "Líquido a pagar", "Total (IVA incl.)", "A pagar"),
        ("TOTAL", "Total due", "Amount due", "Grand total", "Invoice total", "Total", "Total payable",
         "Balance due", "Total incl. VAT"),
    ),
    "description": (
        ("Descripción", "Concepto", "Detalle", "Artículo", "Producto", "Servicio", "DESCRIPCIÓN", "CONCEPTO"),
        ("Description", "Item", "Details", "Product", "Service", "Particulars"),
    ),
    "quantity": (
        ("Cantidad", "Cant.", "Uds.", "Unidades", "Ctd."), ("Qty", "Quantity", "Units", "Hours/Qty"),
    ),
    "price": (
        ("Precio", "Precio unit.", "P. unitario", "Precio/ud.", "PVP", "P.Unit."),
        ("Unit price", "Price", "Rate", "Unit cost"),
    ),
    "amount": (("Importe", "Total", "Subtotal", "Importe neto"), ("Amount", "Line total", "Total", "Net")),
    "code": (("Código", "Ref.", "Referencia", "Cód.", "Artículo"), ("Code", "SKU", "Ref.", "Item no.")),
    "payment": (
        ("Forma de pago", "Condiciones de pago", "Método de pago", "Medio de pago"),
        ("Payment terms", "Payment method", "Terms"),
    ),
    "account": (
        ("Nº de cuenta", "Cuenta", "IBAN", "Datos bancarios", "Entidad bancaria", "Cta. ingreso"),
        ("IBAN", "Bank details", "Account", "Pay to"),
    ),
}  # fmt: skip
WAYS = (
    ("Transferencia bancaria", "Recibo domiciliado", "Transferencia 30 días", "Giro 60 días f.f.", "Contado",
     "Tarjeta", "Domiciliación bancaria"),
    ("Bank transfer", "Net 30", "30 days", "Direct debit", "Due on receipt", "Credit card"),
)  # fmt: skip
NOTES = (
    (
        "Gracias por su confianza.",
        "Conforme a la normativa de protección de datos, le informamos de que sus datos se tratan para la "
        "gestión de la relación comercial. Puede ejercer sus derechos en nuestro domicilio.",
        "No se admiten devoluciones pasados 15 días. Para cualquier litigio, los tribunales de nuestra sede.",
        "Operación sujeta a intereses de demora según la Ley 3/2004 en caso de impago.",
        "Rogamos indiquen el número de factura en el concepto de la transferencia.",
    ),
    (
        "Thank you for your business.",
        "Interest may be charged on late payments. Title passes on payment in full.",
        "Please quote the invoice number with your payment.",
        "Questions about this invoice? Write to us within seven days.",
        "Registered in England and Wales.",
    ),
)


def say(cast: Cast, name: str) -> str:
    """One way to label a thing, in the document's language."""
    return cast.pick(*WORDS[name]) if cast.country != "US" else cast.pick(*WORDS[name]).replace("VAT", "tax")


def tax_id_label(cast: Cast, number: str = "") -> str:
    if cast.spanish:
        person = number[:1].isdigit()
        return cast.random.choice(("NIF", "N.I.F.", "DNI/NIF", "NIF") if person else
                                  ("CIF", "C.I.F.", "NIF", "N.I.F.", "CIF/NIF", "NIF/CIF"))  # fmt: skip
    if cast.country == "GB":
        return cast.random.choice(("VAT No", "VAT Reg No", "VAT number", "VAT no.", "VAT Registration No."))
    return cast.random.choice(("EIN", "Tax ID", "Federal Tax ID", "FEIN"))
