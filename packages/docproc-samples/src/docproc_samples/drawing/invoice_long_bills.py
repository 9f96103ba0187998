# ruff: noqa: E501  (what is printed stands on one line)
"""Bills of several pages: those after the first have charts, tariffs and small print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.invoice_bills import energy, telephone, water
from docproc_samples.drawing.layout import Draw, Layout
from docproc_samples.drawing.sheet import GREY, Column, Sheet

_LEFT, _RIGHT, _WIDTH = 46.0, 549.0, 503.0
_NUMBERED = (
    ("Página {i} de {n}", "Page {i} of {n}"),
    ("{i}/{n}", "{i}/{n}"),
    ("Hoja {i}", "Sheet {i}"),
    ("", ""),
    ("", ""),
)


@dataclass(frozen=True)
class _Later:
    """A page after the first: where it is drawn, and what all pages of the bill have in common."""

    sheet: Sheet
    cast: Cast
    first: dict[str, str]  # the fields of the bill
    contract: str

    def paragraphs(self, y: float, title: str, texts: list[str], size: float = 8.5) -> float:
        self.sheet.text(_LEFT, y, title, 11, bold=True)
        y += 16
        for text in texts:
            y = self.sheet.prose(_LEFT, y, _WIDTH, text, size, color=GREY) + 6
        return y


def _bill(first: Draw, pages: tuple[Callable[[_Later], None], ...]) -> Draw:
    """The bill of one page, and some of the later pages behind it, in any order."""

    def draw(sheet: Sheet, cast: Cast) -> dict[str, str]:
        before = sheet.page_count
        fields = first(sheet, cast)
        random = cast.random
        later = _Later(sheet, cast, fields, cast.digits(10))
        chosen = random.sample(pages, random.randint(1, len(pages)))
        numbering = random.choice(_NUMBERED)[not cast.spanish]
        head = random.choice((0, 1, 2, 3))
        for number, page in enumerate(chosen, start=2):
            sheet.page()
            _head(later, head)
            page(later)
            if numbering:
                said = numbering.format(i=number, n=len(chosen) + 1)
                sheet.text(_RIGHT, 822, said, 7.5, align="right", color=GREY)
        assert sheet.page_count == before + 1 + len(chosen)
        return fields

    return draw


def _head(later: _Later, kind: int) -> None:
    """What is repeated on every page: nothing, the company, or the numbers of the contract and the bill."""
    sheet, cast, first = later.sheet, later.cast, later.first
    if kind >= 1:
        sheet.text(_LEFT, 44, first["vendor_name"], 11, bold=True)
    if kind >= 2:
        holder = f"{cast.say('Titular', 'Customer')}: {first['customer_name']}"
        sheet.text(_LEFT, 58, holder, 8, color=GREY)
    if kind == 3:
        number = f"{cast.say('Factura', 'Bill')}: {first['invoice_number']}"
        sheet.text(_RIGHT, 44, number, 8, align="right", color=GREY)


# --- pages of power and telephone bills


def _history(later: _Later) -> None:
    sheet, cast = later.sheet, later.cast
    sheet.text(_LEFT, 100, cast.say("Evolución del consumo", "Your use over time"), 12, bold=True)
    for month in range(14):
        high = cast.random.uniform(20, 110)
        sheet.box(_LEFT + month * 34, 240 - high, 22, high, fill="#b9c4cf", stroke=None)
        sheet.text(_LEFT + month * 34, 254, f"{month % 12 + 1:02d}/25", 7, color=GREY)
    columns = [
        Column(cast.say("Periodo horario", "Time of day"), 150),
        Column(cast.say("Lectura anterior", "Previous reading"), 118, "right"),
        Column(cast.say("Lectura actual", "Present reading"), 118, "right"),
        Column("kWh", 117, "right"),
    ]
    names = cast.say("Punta Llano Valle", "Peak Shoulder Off-peak").split(" ")
    rows = []
    for name in names:
        before, used = cast.random.randint(9000, 70000), cast.random.randint(20, 300)
        rows.append((name, str(before), str(before + used), str(used)))
    y = sheet.table(_LEFT, 280, columns, rows)
    text = cast.say(
        "La lectura es real y la comunica la empresa distribuidora. La potencia máxima demandada en los "
        f"últimos doce meses ha sido de {cast.random.randint(2, 9)},{cast.digits(1)} kW. El consumo medio diario de su "
        "código postal puede consultarse en el área privada.",
        "Readings are actual and come from the network operator. The highest demand of the last twelve months was "
        f"{cast.random.randint(2, 9)}.{cast.digits(1)} kW. Compare with homes like yours in your online account.",
    )
    sheet.prose(_LEFT, y + 24, _WIDTH, text, 8.5, color=GREY)


def _steps(later: _Later) -> None:
    """How the charges came about, step by step, without the sums of the first page."""
    sheet, cast = later.sheet, later.cast
    sheet.text(_LEFT, 100, cast.say("Cómo se calcula lo que paga", "How it is worked out"), 12, bold=True)
    start = cast.day()
    rows = []
    for _ in range(cast.random.randint(4, 9)):
        days = cast.random.randint(8, 31)
        span = f"{cast.short_date(start)} - {cast.short_date(start + timedelta(days=days))}"
        price = f"0,{cast.digits(6)}" if cast.spanish else f"0.{cast.digits(6)}"
        unit = cast.random.choice(
            (cast.say("€/kW día", "per kW a day"), "€/kWh" if cast.spanish else "per kWh")
        )
        rows.append(
            (span, f"{cast.random.randint(1, 400)}", f"{price} {unit}", cast.number(cast.amount(40, 6000)))
        )
        start += timedelta(days=days)
    columns = [
        Column(cast.say("Intervalo", "Dates"), 180),
        Column(cast.say("Unidades", "Units"), 80, "right"),
        Column(cast.say("Peajes y cargos", "Rate"), 143, "right"),
        Column("€" if cast.spanish else cast.currency, 100, "right"),
    ]
    y = sheet.table(_LEFT, 118, columns, rows, size=8.5)
    text = cast.say(
        "Los peajes de transporte y distribución los fija cada año el organismo regulador; los cargos, el "
        "ministerio. Las cifras de este cuadro están redondeadas.",
        "Network charges are set every year by the regulator. Figures in this table are rounded.",
    )
    sheet.prose(_LEFT, y + 20, _WIDTH, text, 8.5, color=GREY)


def _help(later: _Later) -> None:
    cast, domain = later.cast, "example"
    title = cast.say("Información de interés", "Useful information")
    spanish = [
        "Averías y emergencias: llame a su distribuidora, las 24 horas, con el código de su punto de suministro a mano.",
        "Reclamaciones: puede dirigirse a nuestro servicio de atención, a la junta arbitral de consumo o al "
        "organismo competente de su comunidad autónoma en el plazo de un mes.",
        "Bono social: los hogares vulnerables pueden solicitarlo con el formulario que encontrará en nuestra web.",
        "Protección de datos: sus datos se tratan para gestionar la relación contractual. Puede ejercer sus derechos "
        f"de acceso y supresión en privacidad@{domain}.com.",
        "Origen de la electricidad: renovable 61 %, cogeneración 9 %, nuclear 20 %, otras 10 %. Emisiones de carbono: "
        "120 gramos por kilovatio hora.",
    ]
    english = [
        "Power cut or emergency? Call your network operator at any hour and have your supply number ready.",
        "Complaints: talk to us first. If we cannot agree within eight weeks you may turn to the ombudsman.",
        "Help with paying: households on a low income may have a right to a discount. Ask us for the form.",
        "Privacy: we keep your data to run your account. You may ask to see or erase it.",
        "Fuel mix: renewable 61%, nuclear 20%, gas 12%, other 7%. Carbon: 120 grams per kilowatt hour.",
    ]
    texts = spanish if cast.spanish else english
    later.paragraphs(100, title, cast.random.sample(texts, cast.random.randint(3, 5)))


def _calls(later: _Later) -> None:
    """What was called and downloaded, line by line."""
    sheet, cast = later.sheet, later.cast
    sheet.text(_LEFT, 100, cast.say("Detalle del tráfico", "Itemised use"), 12, bold=True)
    day = cast.day()
    kinds = cast.say(
        "Llamada nacional|Datos móviles|Mensaje|Roaming|Desvío",
        "National call|Mobile data|Text|Roaming|Diverted",
    ).split("|")
    rows = [
        (
            cast.short_date(day + timedelta(days=number // 2)),
            f"{cast.random.randint(7, 23):02d}:{cast.random.randint(0, 59):02d}",
            cast.random.choice(kinds),
            f"{cast.random.choice('679')}{cast.digits(8)}",
            cast.number(cast.amount(0, 90)),
        )
        for number in range(cast.random.randint(12, 34))
    ]
    columns = [
        Column(cast.say("Día", "Day"), 90),
        Column(cast.say("Hora", "Time"), 60),
        Column(cast.say("Tipo", "Kind"), 150),
        Column(cast.say("Destino", "To"), 120),
        Column("€" if cast.spanish else cast.currency, 83, "right"),
    ]
    sheet.table(_LEFT, 118, columns, rows, size=8, step=15)


# --- pages of water bills, which nothing is trained on


def _quality(later: _Later) -> None:
    sheet, cast = later.sheet, later.cast
    sheet.text(
        _LEFT, 96, cast.say("Calidad del agua en su zona", "Water quality where you live"), 12, bold=True
    )
    names = cast.say(
        "Cloro residual|Turbidez|Dureza|pH|Nitratos", "Chlorine|Turbidity|Hardness|pH|Nitrate"
    ).split("|")
    rows = [
        (
            name,
            f"{cast.random.randint(0, 40)},{cast.digits(1)}",
            cast.random.choice(("mg/l", "UNF", "ºF", "-")),
        )
        for name in names
    ]
    columns = [
        Column(cast.say("Parámetro", "Measure"), 230),
        Column(cast.say("Valor medio", "Mean"), 130, "right"),
        Column(cast.say("Unidad", "Unit"), 143),
    ]
    y = sheet.table(_LEFT, 112, columns, rows, grid=True)
    text = cast.say(
        "Los análisis se realizan semanalmente en laboratorio acreditado. El agua distribuida es apta para el consumo humano.",
        "An accredited laboratory takes samples every week. The water supplied is safe to drink.",
    )
    sheet.prose(_LEFT, y + 18, _WIDTH, text, 9)


def _meters(later: _Later) -> None:
    sheet, cast = later.sheet, later.cast
    sheet.text(_LEFT, 96, cast.say("Histórico de lecturas", "Past readings"), 12, bold=True)
    day, value, rows = cast.day(), cast.random.randint(200, 4000), []
    for _ in range(cast.random.randint(5, 9)):
        used = cast.random.randint(6, 40)
        rows.append(
            (
                cast.short_date(day),
                str(value),
                f"{used} m3",
                cast.random.choice(cast.say("Real|Estimada", "Actual|Estimated").split("|")),
            )
        )
        day, value = day + timedelta(days=61), value + used
    columns = [
        Column(cast.say("Fecha", "Date"), 120),
        Column(cast.say("Índice", "Index"), 120, "right"),
        Column(cast.say("Consumido", "Used"), 120, "right"),
        Column(cast.say("Modo", "How"), 143),
    ]
    sheet.table(_LEFT, 112, columns, rows)


def _ways_to_pay(later: _Later) -> None:
    cast = later.cast
    spanish = [
        "Puede abonar el recibo en cualquiera de las entidades colaboradoras, en cajeros automáticos o en nuestra oficina virtual.",
        "Transcurrido el plazo voluntario se aplicará el interés de demora y podrá suspenderse el suministro previo aviso.",
        "Ordenanza reguladora del servicio: las tarifas vigentes fueron aprobadas por el pleno y publicadas en el boletín de la provincia.",
        "Para cambiar la domiciliación comunique el nuevo número de cuenta con quince días de antelación.",
        "Si observa una fuga, cierre la llave de paso general y avise a nuestro servicio de guardia.",
    ]
    english = [
        "Pay at any bank or post office, by card over the telephone, or in your online account.",
        "If we have not heard from you after the due date we may add interest and, after a warning, restrict the supply.",
        "Charges were approved by the council and published in the gazette.",
        "To change your direct debit, tell us the new account fifteen days before.",
        "If you find a leak, close the stop tap and call our emergency team.",
    ]
    texts = spanish if cast.spanish else english
    later.paragraphs(
        96,
        cast.say("Formas de pago y avisos", "Ways to pay, and notices"),
        cast.random.sample(texts, cast.random.randint(3, 5)),
        9,
    )


LAYOUTS = (
    Layout("long_energy_bill", _bill(energy, (_history, _steps, _help))),
    Layout("long_telephone_bill", _bill(telephone, (_calls, _help))),
    Layout("long_water_bill", _bill(water, (_quality, _meters, _ways_to_pay)), held_out=True),
)
