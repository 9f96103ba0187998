# ruff: noqa: E501  (lines of recipes are lines of pages)
"""Recipes of receipts, as tills print them. Data only."""

from __future__ import annotations

from docproc_samples.training.recipes.recipe import Recipe

RECEIPT: tuple[Recipe, ...] = (
    ("es", "FACTURA SIMPLIFICADA|Ticket|TICKET DE COMPRA|Tique|Fra. simplificada|RECIBO|Factura simplificada nº {n}|Documento de venta|CUENTA", """
{company}
[CIF|NIF|N.I.F.]: {cif}
{street} {city}
[Tel|Tfno|Tlf]. {phone}
{date} {time} [Caja|TPV|Terminal|Tienda|Op|Mesa|Sala|Turno]: {few}
[Le atendió|Atendido por|Cajero|Cajera|Camarero|Vendedor|Empleado|Dependiente]: {given}
[Uds|Cant|Unid] [Descripción|Artículo|Producto|Concepto] [PVP|P.U.|Precio] [Importe|Imp|Total]
*{few} {item} {amount}
*{item} {amount}
*{item} {few},{few} kg {amount}
[Subtotal|Total sin dto|Base]: {amount}
[TOTAL|TOTAL A PAGAR|Total €|TOTAL COMPRA|Total (impuestos incl.)|IMPORTE TOTAL] {amount}
[Efectivo|Entregado|Tarjeta|Tarjeta bancaria|VISA|Contado|Bizum|Metálico|Importe entregado] {amount}
[Cambio|Devolución|A devolver|Su cambio] {amount}
[IVA incluido|I.V.A. incl.|IVA INCLUIDO EN EL PRECIO|Impuestos incluidos]
[Base|Base imp.] [Cuota|IVA] {pct} {amount} {amount}
[Gracias por su visita|Gracias por su compra|¡Gracias!|Vuelva pronto|Conserve este ticket|Le esperamos de nuevo|Cambios y devoluciones con ticket en 15 días|No se admiten devoluciones sin ticket]
[Nº artículos|Total artículos|Comensales]: {few}
[Puntos acumulados|Ahorro|Dto. cliente]: {few}
[Litros|Surtidor|Precio/litro|Gasoleo A|Sin plomo 95] {amount}"""),
    ("es", "JUSTIFICANTE DE COMPRA|VENTA|Copia para el cliente|COMPROBANTE DE VENTA|Recibo de taxi|Ticket de aparcamiento|Peaje", """
{company}
{city} {date} {time}
[Comercio|TPV|Terminal|Licencia|Matrícula|Entrada]: {n}
[Tarjeta|Visa|Mastercard] ****{few} [AID|ARC|Autorización|Aut.] {n}
[Operación contactless|Firma no necesaria|Operación realizada con PIN|Venta]
[Salida|Duración|Trayecto|Suplemento|Tarifa 1] {time}
[IMPORTE|TOTAL|Importe total] {amount} [EUR|€]
[IVA incluido|IVA 21 % incluido|IVA 10 % incl.]
[Gracias por su visita|Conserve este recibo|Gracias, buen viaje]"""),
    ("en", "RECEIPT|Sales receipt|CASH RECEIPT|TAX INVOICE|Receipt #{n}|CASH BILL|Guest check|", """
{company}
[Store|Shop|Reg|Register|Till|Terminal|Table|Counter] {few} {street}
{city} [Tel|Phone|Ph]: {phone}
{date} {time} [Cashier|Served by|Your server was|Operator|Staff|Associate]: {given}
*{item} {amount}
*{few} x {item} {amount}
*{few} {item} @ {amount} {amount}
[Subtotal|Sub total|Total before tax] {amount}
[Tax|Sales tax|VAT|GST 6%|Incl. VAT|Service charge] {amount}
[TOTAL|Total|Balance due|Total (incl. VAT)|Total Sales|Amount] {amount}
[Cash|Visa|Mastercard|Debit|Card|Cash tendered|Contactless|Amex] {amount}
[Change|Change due|Rounding] {amount}
[Tip|Gratuity] ________
[Auth code|AID|Approval|Card no|Entry method: chip] {n}
[Thank you|Thank you for shopping with us|Please come again|Have a nice day|Thanks for your visit|Keep your receipt|Goods sold are not returnable|Returns within 30 days with receipt]
[Items sold|Number of items|You saved|Loyalty points]: {few}"""),
    ("ca", "FACTURA SIMPLIFICADA|TIQUET|TICKET|TIKETA|FATURA SIMPLIFICADA|BOLETA ELECTRÓNICA", """
{company}
NIF {cif}
{date} {time} [Caixa|Kutxa|Caja]: {few}
[L'ha atès|Atendeu|Li va atendre]: {given}
*{few} {item} {amount}
*{item} {amount}
TOTAL [EUR|€|S/|$] {amount}
[Efectiu|Targeta|Efectivo|Eskudirutan|Multibanco] {amount}
[Canvi|Cambio|Itzulia|Troco|Vuelto] {amount}
[IVA inclòs|IVE incluído|BEZ barne|IVA incluido]
[Gràcies per la seva visita|Grazas|Eskerrik asko|Obrigado pela sua visita|Gracias por su preferencia]"""),
    ("fr", "TICKET|Ticket de caisse|REÇU|FACTURETTE", """
{company}
{date} {time} Caisse {few}
*{item} {amount}
*{few} {item} {amount}
[TOTAL|Total TTC|A PAYER] {amount}
[Espèces|CB|Carte bancaire] {amount}
[Rendu|Rendu monnaie] {amount}
[dont TVA|TVA {pct}] {amount}
[Merci de votre visite|Merci et à bientôt]"""),
)  # fmt: skip
