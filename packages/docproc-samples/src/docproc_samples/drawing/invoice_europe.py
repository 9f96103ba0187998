# ruff: noqa: E501  (what is printed stands on one line)
"""Invoices of other languages: French, German, Italian, Portuguese, Dutch, Catalan, Galician, Basque.

Nothing is trained on these drawings: the classifier learns such words from recipes, and fields are found by labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from babel.dates import format_date
from babel.numbers import format_decimal
from stdnum.eu import vat

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.identifiers import in_groups
from docproc_samples.drawing.layout import Draw, Layout
from docproc_samples.drawing.sheet import GREY, Column, Sheet
from docproc_samples.drawing.writing import cents

LEFT, RIGHT = 50.0, 545.0


@dataclass(frozen=True)
class Words:
    """What an invoice says in one language, with choices separated by `|`."""

    title: str
    number: str
    day: str
    due: str
    customer: str
    columns: str  # description, quantity, price, amount
    net: str
    tax: str
    total: str
    tax_id: str
    forms: str  # legal forms of companies
    names: str
    towns: str
    goods: str
    rate: int


WORDS: dict[str, Words] = {
    "fr": Words(
        "FACTURE", "Facture n°|Numéro de facture|N° de facture", "Date de facture|Date", "Échéance|Date d'échéance",
        "Facturé à|Client", "Désignation;Quantité;Prix unitaire;Montant HT", "Total HT|Sous-total", "TVA 20 %|Montant TVA",
        "Total TTC|Net à payer|Montant TTC", "N° TVA FR", "SARL|SAS|SA", "Ateliers Duvernois|Imprimerie Lafontaine|Cheminées Royer",
        "69003 Lyon|44000 Nantes|31000 Toulouse", "Pose de carrelage|Papier A4|Entretien annuel|Main-d'œuvre", 20,
    ),
    "de": Words(
        "RECHNUNG", "Rechnungsnummer|Rechnung Nr.|Rechnungs-Nr.", "Rechnungsdatum|Datum", "Fällig am|Zahlbar bis",
        "Rechnung an|Kunde", "Beschreibung;Menge;Einzelpreis;Betrag", "Nettobetrag|Zwischensumme|Summe netto", "MwSt. 19 %|zzgl. 19 % USt",
        "Gesamtbetrag|Rechnungsbetrag|Endbetrag", "USt-IdNr. DE", "GmbH|AG|KG", "Brandl Werkzeuge|Holzbau Steiner|Lichtblick Elektro",
        "80331 München|50667 Köln|04109 Leipzig", "Montage Fenster|Druckerpapier|Wartung|Arbeitsstunden", 19,
    ),
    "it": Words(
        "FATTURA", "Fattura n.|Numero fattura", "Data fattura|Data|Data emissione", "Scadenza|Data scadenza",
        "Spett.le|Cliente", "Descrizione;Quantità;Prezzo;Importo", "Imponibile|Totale imponibile", "IVA 22 %|Totale IVA",
        "Totale fattura|Totale documento|Totale da pagare", "P.IVA IT", "S.r.l.|S.p.A.|S.n.c.", "Officine Bellandi|Ceramiche Torrini|Legatoria Moschini",
        "20121 Milano|50122 Firenze|10121 Torino", "Posa pavimento|Carta per stampante|Manutenzione|Manodopera", 22,
    ),
    "pt": Words(
        "FATURA", "Fatura n.º|Número da fatura", "Data de emissão|Data|Data da fatura", "Vencimento|Data de vencimento",
        "Cliente|Exmo(s) Sr(s)", "Descrição;Quantidade;Preço;Total", "Base tributável|Total ilíquido|Subtotal", "IVA 23 %|Total IVA",
        "Total a pagar|Total da fatura", "NIF PT", "Lda.|S.A.|Unipessoal Lda.", "Oficina Carvalhal|Tipografia Ribeirinha|Jardins do Minho",
        "4000-120 Porto|1100-053 Lisboa|3000-213 Coimbra", "Assentamento de azulejo|Papel A4|Manutenção|Mão de obra", 23,
    ),
    "nl": Words(
        "FACTUUR", "Factuurnummer|Factuur nr.", "Factuurdatum|Datum", "Vervaldatum|Te betalen voor",
        "Factuuradres|Klant", "Omschrijving;Aantal;Prijs;Bedrag", "Subtotaal|Totaal excl. btw", "BTW 21 %|Totaal btw",
        "Totaal te betalen|Totaal incl. btw|Totaalbedrag", "BTW-nummer NL", "B.V.|N.V.|V.O.F.", "Timmerbedrijf Veenstra|Drukkerij De Linde|Groenwerk Hoekstra",
        "1012 AB Amsterdam|3511 LX Utrecht|9711 LM Groningen", "Plaatsen kozijn|Printpapier|Onderhoud|Arbeidsuren", 21,
    ),
    "ca": Words(
        "FACTURA", "Núm. factura|Factura núm.", "Data factura|Data", "Venciment|Data de venciment",
        "Client|Dades del client", "Descripció;Quantitat;Preu;Import", "Base imposable", "IVA 21 %|Quota IVA",
        "Total factura|Total a pagar|Import total", "NIF ", "S.L.|S.A.", "Tallers Puigdemunt|Impremta Les Basses|Fusteria Canyelles",
        "08010 Barcelona|17001 Girona|25001 Lleida", "Col·locació de rajola|Paper A4|Manteniment|Mà d'obra", 21,
    ),
    "gl": Words(
        "FACTURA", "Factura nº|Nº da factura", "Data da factura|Data", "Vencemento|Data de vencemento",
        "Cliente|Datos do cliente", "Concepto;Cantidade;Prezo;Importe", "Base impoñible", "IVE 21 %|Cota IVE",
        "Total da factura|Total a pagar", "NIF ", "S.L.|S.A.", "Talleres Brandomil|Imprenta A Fonte|Carpintería Outeiro",
        "15001 A Coruña|36201 Vigo|27001 Lugo", "Colocación de baldosa|Papel A4|Mantemento|Man de obra", 21,
    ),
    "eu": Words(
        "FAKTURA", "Faktura zenbakia|Fakturaren zenbakia", "Fakturaren data|Data", "Epemuga|Ordaintzeko epea",
        "Bezeroa", "Kontzeptua;Kopurua;Prezioa;Zenbatekoa", "Zerga oinarria", "BEZ % 21|BEZ kuota",
        "Guztira|Ordaintzeko guztira|Fakturaren guztira", "IFK ", "S.L.|Koop. E.", "Arizti Tailerrak|Moldiztegi Harresi|Egurlan Mendibil",
        "48001 Bilbo|20001 Donostia|01001 Gasteiz", "Lauza jartzea|A4 papera|Mantentze-lanak|Eskulana", 21,
    ),
}  # fmt: skip


def _vat_number(words: Words, cast: Cast) -> str:
    """A number with right check digits; of Spain where the language is one of its own."""
    country = words.tax_id[-2:]
    if country not in ("FR", "DE", "IT", "PT", "NL"):
        return cast.company("goods").tax_id
    while True:
        digits = cast.digits(11 if country in ("FR", "IT") else 9)
        if country == "FR":
            digits = f"{(12 + 3 * (int(digits[2:]) % 97)) % 97:02d}{digits[2:]}"
        number = f"{country}{digits}{'B01' if country == 'NL' else ''}"
        if vat.is_valid(number):
            return number


def _draw(language: str, boxed: bool) -> Draw:
    """One of two looks: facts below each other at the left, or in a row of boxes."""
    words = WORDS[language]

    def draw(sheet: Sheet, cast: Cast) -> dict[str, str]:
        random = cast.random

        def say(choices: str) -> str:
            return random.choice(choices.split("|"))

        def money(amount: Decimal) -> str:
            written = (
                format_decimal(amount, "#,##0.00", locale=language)
                .replace("\u202f", " ")
                .replace("\u00a0", " ")
            )
            return f"{written} €"

        def written(day: date) -> str:
            style = random.choice(("long", "short", "plain"))
            return f"{day:%d/%m/%Y}" if style != "long" else format_date(day, "long", locale=language)

        tax_id = _vat_number(words, cast)
        vendor = f"{say(words.names)} {say(words.forms)}"
        customer, day = cast.person().name, cast.day()
        due = day + timedelta(days=random.choice((15, 30, 60)))
        number = random.choice(
            (f"{day.year}-{cast.digits(4)}", f"F{cast.digits(6)}", f"{day.year}/{cast.digits(3)}")
        )
        rows = [
            (goods, random.randint(1, 9), cast.amount(900, 45_000))
            for goods in random.sample(words.goods.split("|"), random.randint(2, 4))
        ]
        net = sum((price * quantity for _, quantity, price in rows), Decimal(0))
        tax = cents(net * words.rate / 100)
        sheet.page(font=random.choice(("Helvetica", "Vera")))
        sheet.text(LEFT, 62, vendor, 15, bold=True)
        sheet.lines(
            LEFT, 78, [say(words.towns), f"{words.tax_id.removesuffix(tax_id[:2])}{tax_id}"], 8.5, color=GREY
        )
        sheet.text(RIGHT, 66, words.title, 18, bold=True, align="right")
        facts = [(say(words.number), number), (say(words.day), written(day)), (say(words.due), written(due))]
        if boxed:
            for place, (label, value) in enumerate(facts):
                x = LEFT + place * 165
                sheet.box(x, 120, 165, 36)
                sheet.text(x + 6, 132, label, 7.5, color=GREY)
                sheet.text(x + 6, 148, value, 10)
        else:
            for place, (label, value) in enumerate(facts):
                sheet.text(LEFT, 126 + place * 15, f"{label}:", 9.5)
                sheet.text(LEFT + 130, 126 + place * 15, value, 9.5)
        sheet.text(330 if not boxed else LEFT, 190, f"{say(words.customer)}:", 9, color=GREY)
        sheet.lines(330 if not boxed else LEFT, 204, [customer, say(words.towns)], 10)
        titles = words.columns.split(";")
        widths = (255.0, 70.0, 80.0, 90.0)
        columns = [
            Column(title, width, "left" if not place else "right")
            for place, (title, width) in enumerate(zip(titles, widths, strict=True))
        ]
        table = [
            (goods, str(quantity), money(price), money(price * quantity)) for goods, quantity, price in rows
        ]
        y = sheet.table(LEFT, 250, columns, table) + 24
        for label, amount in ((say(words.net), net), (say(words.tax), tax), (say(words.total), net + tax)):
            sheet.text(420, y, label, 10, align="right")
            sheet.text(RIGHT, y, money(amount), 10, align="right")
            y += 17
        sheet.text(LEFT, 790, f"IBAN {in_groups(cast.company('shop').iban)}", 8, color=GREY)
        return {
            "vendor_name": vendor,
            "vendor_tax_id": tax_id,
            "customer_name": customer,
            "invoice_number": number,
            "date": day.isoformat(),
            "due_date": due.isoformat(),
            "net_amount": f"{net:.2f}",
            "tax_amount": f"{tax:.2f}",
            "total_amount": f"{net + tax:.2f}",
            "currency": "EUR",
        }

    return draw


LAYOUTS = tuple(
    Layout(f"europe_{language}_{name}", _draw(language, boxed), (language,), held_out=True)
    for language in WORDS
    for name, boxed in (("list", False), ("boxes", True))
)
