"""Forms and printouts: transfer receipt, insurance, tax form, e-mail, cover sheet, terms."""

from __future__ import annotations

from decimal import Decimal

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.identifiers import iban, in_groups
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Sheet
from docproc_samples.drawing.style import style
from docproc_samples.drawing.writing import cents


def transfer(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A bank confirms one payment: names, accounts and an amount, but no statement."""
    bank, look, day = cast.company("bank"), style(cast, fonts=("Helvetica", "Vera")), cast.day()
    country = "ES" if cast.spanish else "GB"
    sheet.page(font=look.font)
    sheet.text(look.left, 60, bank.name, 15, bold=True, color=look.accent)
    sheet.text(
        look.left,
        100,
        cast.pick(
            ("Justificante de transferencia", "Comprobante de la operación", "ORDEN DE TRANSFERENCIA"),
            ("Payment confirmation", "Transfer receipt"),
        ),
        14,
        bold=True,
    )
    facts = [
        (cast.say("Fecha de la orden", "Order date"), cast.short_date(day)),
        (cast.say("Ordenante", "From"), cast.person().name),
        (cast.say("Cuenta de cargo", "Debit account"), in_groups(iban(cast.random, country))),
        (cast.say("Beneficiario", "Payee"), cast.company("goods").name),
        (cast.say("Cuenta de abono", "Payee account"), in_groups(iban(cast.random, country))),
        (cast.say("Importe", "Amount"), cast.money(cast.amount(2000, 400000))),
        (
            cast.say("Concepto", "Reference"),
            cast.say(f"Pago factura {cast.digits(4)}", f"Invoice {cast.digits(4)}"),
        ),
        (cast.say("Comisión", "Fee"), cast.money(Decimal("0.00"))),
        (cast.say("Referencia", "Bank reference"), cast.digits(12)),
    ]
    for row, (label, value) in enumerate(facts):
        sheet.text(look.left, 140 + row * 24, look.label(label), 9.5, color=GREY)
        sheet.fitted(look.left + 150, 140 + row * 24, look.width - 150, value, 10.5)
        sheet.rule(look.left, 147 + row * 24, look.right, color="#dddddd")
    return {}


def insurance(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """The particular conditions of a policy."""
    insurer, person, look = (
        cast.company("services"),
        cast.person(),
        style(cast, fonts=("Helvetica", "Times-Roman")),
    )
    sheet.page(font=look.font)
    sheet.fitted(look.left, 58, 300, insurer.name, 14, bold=True, color=look.accent)
    sheet.text(look.right, 58, cast.say("SEGURO DE HOGAR", "HOME INSURANCE"), 12, bold=True, align="right")
    sheet.text(
        look.left, 90, cast.say("CONDICIONES PARTICULARES DE LA PÓLIZA", "POLICY SCHEDULE"), 12, bold=True
    )
    premium = cast.amount(12000, 52000)
    facts = [
        (cast.say("Nº de póliza", "Policy number"), cast.digits(10)),
        (cast.say("Tomador", "Policyholder"), person.name),
        (cast.say("NIF", "Date of birth"), person.tax_id if cast.spanish else cast.short_date(person.birth)),
        (cast.say("Riesgo asegurado", "Insured address"), person.address.one_line),
        (cast.say("Efecto", "From"), cast.short_date(cast.day())),
        (cast.say("Prima neta", "Net premium"), cast.money(premium)),
        (cast.say("Impuestos y recargos", "Insurance tax"), cast.money(cents(premium * Decimal("0.08")))),
        (cast.say("Prima total", "Total premium"), cast.money(premium + cents(premium * Decimal("0.08")))),
    ]
    for row, (label, value) in enumerate(facts):
        sheet.box(look.left, 106 + row * 22, look.width, 22)
        sheet.text(look.left + 6, 121 + row * 22, label, 9, color=GREY)
        sheet.fitted(look.left + 150, 121 + row * 22, look.width - 160, value, 9.5)
    text = cast.say(
        "Garantías contratadas: incendio, daños por agua, robo, rotura de cristales, responsabilidad civil "
        "y defensa jurídica. La "
        "cobertura del contenido se presta a primer riesgo. El asegurador indemnizará los daños según los "
        "límites indicados en las "
        "condiciones generales, que el tomador declara haber recibido. La póliza se renovará tácitamente "
        "por periodos anuales.",
        "Cover includes fire, escape of water, theft, glass, liability and legal expenses. We pay up to "
        "the limits shown in the policy "
        "booklet, which you confirm that you have received. The policy renews each year unless you tell us "
        "otherwise.",
    )
    sheet.prose(look.left, 310, look.width, text, 10)
    return {}


def tax_form(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A form of the tax office with numbered boxes."""
    person, look = cast.person(), style(cast, fonts=("Helvetica",))
    sheet.page(font=look.font)
    sheet.box(30, 30, 535, 46, fill="#dfe8e4", stroke="#3a6b57")
    sheet.text(42, 50, cast.say("Agencia Tributaria", "Revenue Office"), 11, bold=True)
    sheet.text(
        42, 66, cast.say("Impuesto sobre el Valor Añadido. Autoliquidación", "Return of tax on sales"), 9.5
    )
    sheet.text(550, 60, cast.say("Modelo 303", "Form 303-S"), 15, bold=True, align="right")
    sheet.text(
        42,
        98,
        f"NIF {person.tax_id}     {cast.say('Apellidos y nombre', 'Name')}: {person.surnames}, "
        f"{person.given}",
        9.5,
    )
    sheet.text(
        42,
        114,
        f"{cast.say('Ejercicio', 'Year')}: 2025     {cast.say('Periodo', 'Period')}: "
        f"{cast.random.randint(1, 4)}T",
        9.5,
    )
    base = cast.amount(200000, 4000000)
    rows = [
        (cast.say("Base imponible", "Taxable base"), base),
        (cast.say("Cuota devengada", "Tax due"), cents(base * Decimal("0.21"))),
        (cast.say("IVA soportado deducible", "Deductible tax"), cents(base * Decimal("0.09"))),
        (cast.say("Diferencia", "Difference"), cents(base * Decimal("0.12"))),
        (cast.say("A ingresar", "To pay"), cents(base * Decimal("0.12"))),
    ]
    for row, (label, amount) in enumerate(rows):
        y = 140 + row * 26
        sheet.box(30, y, 380, 22)
        sheet.box(410, y, 30, 22, fill="#dfe8e4")
        sheet.box(440, y, 125, 22)
        sheet.text(38, y + 15, label, 9.5)
        sheet.text(425, y + 15, f"{row * 3 + 1:02d}", 8, align="center")
        sheet.text(558, y + 15, cast.number(amount), 10, align="right")
    sheet.text(42, 300, f"IBAN {in_groups(cast.company('bank').iban)}", 9.5)
    sheet.text(
        42, 330, cast.say("Firma del declarante o representante", "Signature of taxpayer"), 8.5, color=GREY
    )
    return {}


def mail(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A printed e-mail; its subject may name an invoice."""
    sender, receiver, look = (
        cast.person(),
        cast.person(),
        style(cast, fonts=("Helvetica", "Times-Roman", "Vera")),
    )
    sheet.page(font=look.font)
    sheet.text(look.left, 50, cast.company("services").domain, 9, color=GREY)
    subject = cast.pick(
        (
            "Factura pendiente y cita del martes",
            "RE: documentación para la nómina",
            "Contrato de alquiler: dudas",
        ),
        ("Invoice question and Tuesday", "RE: papers for payroll", "Tenancy agreement: questions"),
    )
    heads = [
        (cast.say("De", "From"), f"{sender.name} <{sender.given.split()[0].lower()}@correo.example>"),
        (cast.say("Para", "To"), receiver.name),
        (cast.say("Enviado", "Sent"), f"{cast.long_date(cast.day())} 10:42"),
        (cast.say("Asunto", "Subject"), subject),
    ]
    for row, (label, value) in enumerate(heads):
        sheet.text(look.left, 76 + row * 16, f"{label}:", 10, bold=True)
        sheet.text(look.left + 60, 76 + row * 16, value, 10)
    sheet.rule(look.left, 146, look.right)
    text = cast.say(
        f"Hola {receiver.given}:|Te adjunto la factura que me pediste y la copia de la nómina de marzo. El "
        "total no coincide con lo que "
        "hablamos, así que échale un vistazo cuando puedas. También falta firmar el contrato nuevo.|¿Nos "
        "vemos el martes a las once? "
        "Si no te viene bien, dime otro día.|Un abrazo,",
        f"Hi {receiver.given},|I attach the invoice you asked for and a copy of the March payslip. The "
        "total is not what we agreed, so "
        "please have a look when you can. The new contract still has to be signed.|Shall we meet on "
        "Tuesday at eleven? If that "
        "does not suit you, name another day.|Best,",
    )
    y = 172.0
    for part in [*text.split("|"), sender.given]:
        y = sheet.prose(look.left, y, look.width, part, 10.5) + 9
    return {}


def cover(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """A sheet that separates documents, or goes before a fax."""
    company, look = cast.company("services"), style(cast, fonts=("Helvetica", "Times-Roman"))
    sheet.page(font=look.font)
    sheet.box(60, 90, 475, 300, stroke=look.accent, line_width=2)
    sheet.fitted(297, 150, 440, company.name, 20, bold=True, align="center")
    title = cast.pick(
        ("EXPEDIENTE", "DOCUMENTACIÓN ADJUNTA", "PORTADA"), ("COVER SHEET", "ENCLOSED DOCUMENTS")
    )
    sheet.text(297, 210, title, 24, bold=True, align="center", color=look.accent)
    sheet.text(297, 250, f"{cast.say('Ref.', 'Ref')} {cast.digits(6)}", 13, align="center")
    sheet.text(297, 290, cast.person().name, 13, align="center")
    sheet.text(297, 330, cast.long_date(cast.day()), 12, align="center")
    return {}


def terms(sheet: Sheet, cast: Cast) -> dict[str, str]:
    """General conditions in small print and two columns; no parties, no signatures."""
    look = style(cast, fonts=("Helvetica", "Times-Roman"))
    sheet.page(font=look.font)
    sheet.text(
        look.left,
        52,
        cast.pick(
            ("CONDICIONES GENERALES DE VENTA", "Condiciones generales de uso"),
            ("TERMS AND CONDITIONS OF SALE",),
        ),
        12,
        bold=True,
    )
    texts = TERMS[cast.language]
    lines: list[str] = []
    for number in range(14):
        lines += [*sheet.folded(f"{number + 1}. {texts[number % len(texts)]}", look.width / 2 - 14, 8), ""]
    half = (len(lines) + 1) // 2
    sheet.lines(look.left, 78, lines[:half], 8)
    sheet.lines(look.left + look.width / 2 + 8, 78, lines[half:], 8)
    return {}


TERMS = {
    "es": (
        "Los precios no incluyen el IVA salvo indicación expresa y pueden cambiar sin previo aviso.",
        "El pago se realizará en la fecha de vencimiento de cada factura. La demora devengará el interés "
        "legal.",
        "La mercancía viaja por cuenta y riesgo del comprador, aunque los portes sean pagados.",
        "Las reclamaciones por defectos visibles se harán por escrito en los siete días siguientes a la "
        "entrega.",
        "El vendedor conserva la propiedad de los bienes hasta el cobro íntegro del precio.",
        "Ninguna de las partes responde del incumplimiento debido a fuerza mayor.",
        "Las partes se someten a los tribunales del domicilio del vendedor.",
    ),
    "en": (
        "Prices exclude tax unless stated and may change without notice.",
        "Payment is due on the date shown on each invoice. Interest runs on late payments.",
        "Goods travel at the buyer's risk even when carriage is paid.",
        "Claims for visible defects must be made in writing within seven days of delivery.",
        "The seller keeps title to the goods until the price is paid in full.",
        "Neither party is liable for failure caused by events beyond its control.",
        "These terms are governed by the law of the seller's country.",
    ),
}
LAYOUTS = (
    Layout("transfer", transfer),
    Layout("tax_form", tax_form),
    Layout("mail", mail),
    Layout("cover", cover),
    Layout("insurance", insurance, held_out=True),
    Layout("terms", terms, held_out=True),
)
