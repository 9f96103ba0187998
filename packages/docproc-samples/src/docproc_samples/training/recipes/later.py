# ruff: noqa: E501  (lines of recipes are lines of pages)
"""Recipes of pages that follow others and rarely say what they belong to, by the type of their document. Data only."""

from __future__ import annotations

from docproc_samples.training.recipes.recipe import Recipe

_TERMS: tuple[Recipe, ...] = (
    (
        "es",
        "Condiciones generales|CONDICIONES GENERALES DE VENTA|Información al cliente|Notas|Aviso legal|",
        """
~La mercancía viaja por cuenta y riesgo del comprador salvo pacto en contrario.
No se admitirán reclamaciones pasados [siete|quince|treinta] días desde la recepción.
Los pagos realizados fuera de plazo devengarán el interés legal de demora.
Para cualquier controversia las partes se someten a los juzgados de {city}.
Sus datos se incorporan a un fichero para la gestión comercial y administrativa.
Puede ejercer sus derechos de acceso, rectificación y supresión en {mail}.
Los precios no incluyen portes ni embalajes especiales.
La garantía cubre defectos de fabricación durante [dos|tres] años.
Conserve este documento junto con el resto de su documentación.""",
    ),
    (
        "en",
        "Terms and conditions|TERMS OF SALE|Important information|Notes|",
        """
~Title to the goods passes to the buyer upon full payment.
Claims must be made in writing within [seven|fifteen|thirty] days of delivery.
Late payments bear interest at the statutory rate.
Prices do not include freight or special packaging.
We keep your data to run your account; write to {mail} to see or erase it.
The warranty covers manufacturing defects for [two|three] years.
Any dispute shall be settled by the courts of {city}.
Please keep this page with your records.""",
    ),
)
_CHARTS: tuple[Recipe, ...] = (
    (
        "es",
        "Evolución del consumo|Histórico de lecturas|Detalle de consumos|Gráfico de consumo|",
        """
[Titular|Contrato|Punto de suministro]: {n}
[Periodo|Intervalo|Mes] [Lectura anterior|Índice] [Lectura actual|Índice] [Consumo|kWh|m3]
*{shortdate} {few} {few} {few}
*{month} {few} {few}
[Consumo medio diario|Potencia máxima demandada]: {few}
[Averías 24 horas|Atención al cliente|Oficina virtual]: {phone}""",
    ),
    (
        "en",
        "Your usage history|Past readings|Usage in detail|",
        """
[Customer|Account|Meter]: {n}
[Dates|Month] [Previous|Index] [Present|Index] [Used|kWh|units]
*{shortdate} {few} {few} {few}
*{month} {few} {few}
[Average daily use|Highest demand]: {few}
[Emergencies|Help line]: {phone}""",
    ),
)
_BANK: tuple[Recipe, ...] = (
    (
        "en",
        "Important information about your account|Account disclosures|Fees and notices|",
        """
~In case of errors or questions about your electronic transfers, write to us or call {phone}.
Tell us your name and the number of your account and describe the error as clearly as you can.
We will investigate your complaint and will correct any error promptly.
To balance your register, list outstanding items and subtract them from the figure shown.
Member FDIC. Equal housing lender.
Overdraft fees and the items that caused them are shown for the year.""",
    ),
    (
        "es",
        "Información importante|Comisiones y gastos|Avisos|",
        """
~Le rogamos compruebe este documento y nos comunique cualquier disconformidad en el plazo de quince días.
Las comisiones aplicadas figuran en el folleto de tarifas a disposición de los clientes.
El fondo de garantía de depósitos cubre hasta cien mil euros por titular.
El tipo de descubierto tácito es el publicado en nuestro tablón de anuncios.
Servicio de atención al cliente: {phone}.""",
    ),
)
_SIGNED: tuple[Recipe, ...] = (
    (
        "es",
        "ANEXO I|Anexo|Firmas|",
        """
[Y en prueba de conformidad firman por duplicado|Leído y conforme] en {city}
[Fdo.|Firmado]: {person} [Fdo.|Firmado]: {person}
[Inventario|Relación de bienes]:
*{few} {item}""",
    ),
    (
        "en",
        "Annex A|Schedule 1|Signatures|",
        """
[Signed by|For and on behalf of] {company}
[Name|Signature]: {person} Date: {date}
*{few} {item}""",
    ),
)

LATER: dict[str, tuple[Recipe, ...]] = {
    "invoice": (*_TERMS, *_CHARTS),
    "contract": (*_SIGNED, *_TERMS),
    "bank_statement": _BANK,
    "other": _TERMS,
}
