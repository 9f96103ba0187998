"""Pages of no special type: letters, news, minutes, and prose that only talks about invoices and payrolls."""

from __future__ import annotations

from collections.abc import Callable

from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.layout import Layout
from docproc_samples.drawing.sheet import GREY, Sheet

LEFT, WIDTH = 70.0, 455.0


def letter(sheet: Sheet, cast: Cast) -> None:
    """A school or club writes to a family."""
    person, city = cast.person(), cast.address().city
    sheet.page(font="Times-Roman")
    sheet.text(LEFT, 80, cast.say(f"Coral Municipal de {city}", f"{city} Community Choir"), 15, bold=True)
    sheet.text(LEFT, 96, cast.address().one_line, 9, color=GREY)
    sheet.lines(LEFT, 140, [person.name, person.address.street, person.address.town], 11)
    sheet.text(LEFT + WIDTH, 205, f"{city}, {cast.long_date(cast.day())}", 11, align="right")
    greeting = cast.say("Estimada familia:", f"Dear {person.given},")
    y = sheet.prose(LEFT, 240, WIDTH, greeting, 11.5) + 8
    for text in LETTER[cast.language]:
        y = sheet.prose(LEFT, y, WIDTH, text, 11.5) + 9
    sheet.text(LEFT, y + 10, cast.say("Un cordial saludo,", "With kind regards,"), 11.5)
    sheet.curve(LEFT + 6, y + 52, [(18, 20), (30, 6), (48, 24), (66, 4), (80, 12), (120, 2)])
    sheet.text(LEFT, y + 76, cast.person().name, 11.5)
    sheet.text(LEFT, y + 91, cast.say("La dirección", "For the committee"), 10, color=GREY)


def news(sheet: Sheet, cast: Cast) -> None:
    """A newspaper page in two columns, about payrolls."""
    sheet.page(font="Times-Roman")
    sheet.text(
        297, 72, cast.say("El Diario de la Ribera", "The Valley Observer"), 27, bold=True, align="center"
    )
    sheet.rule(LEFT, 84, LEFT + WIDTH, width=1.4, color="#222222")
    sheet.text(LEFT, 98, cast.long_date(cast.day()), 9)
    sheet.text(LEFT + WIDTH, 98, cast.say("ECONOMÍA", "BUSINESS"), 9, align="right")
    y = sheet.prose(LEFT, 138, WIDTH, HEADLINE[cast.language], 21, bold=True)
    lines = [
        line
        for text in NEWS[cast.language]
        for line in [*sheet.folded(text, WIDTH / 2 - 12, 10.5), ""]
    ]  # fmt: skip
    half = (len(lines) + 1) // 2
    sheet.lines(LEFT, y + 8, lines[:half], 10.5)
    sheet.lines(LEFT + WIDTH / 2 + 12, y + 8, lines[half:], 10.5)


def minutes(sheet: Sheet, cast: Cast) -> None:
    """What a residents' meeting resolved, with numbered items."""
    sheet.page(font="Helvetica")
    title = cast.say("ACTA DE LA JUNTA DE VECINOS", "MINUTES OF THE RESIDENTS' MEETING")
    sheet.text(297, 86, title, 14, bold=True, align="center")
    place = cast.address()
    held = cast.say(
        f"Celebrada en {place.one_line}, el {cast.long_date(cast.day())}, a las 19:30 horas.",
        f"Held at {place.one_line} on {cast.long_date(cast.day())} at 7.30 pm.",
    )
    y = sheet.prose(LEFT, 120, WIDTH, held, 10.5) + 6
    present = ", ".join(cast.person().name for _ in range(4))
    y = sheet.prose(LEFT, y, WIDTH, f"{cast.say('Asistentes', 'Present')}: {present}.", 10.5) + 10
    for number, text in enumerate(MINUTES[cast.language], start=1):
        y = sheet.prose(LEFT, y, WIDTH, f"{number}. {text}", 10.5) + 8
    sheet.text(LEFT, y + 30, cast.say("La secretaria", "The secretary"), 10)
    sheet.text(LEFT + WIDTH, y + 30, cast.say("El presidente", "The chair"), 10, align="right")


def manual(sheet: Sheet, cast: Cast) -> None:
    """A page of instructions for the staff: how to file invoices and receipts."""
    sheet.page(font="Helvetica")
    sheet.box(0, 0, sheet.width, 56, fill="#e8edf2", stroke=None)
    sheet.text(
        LEFT,
        35,
        cast.say("Manual interno de administración", "Office handbook"),
        13,
        bold=True,
        color="#33415c",
    )
    sheet.text(LEFT + WIDTH, 35, cast.say("Capítulo 4", "Chapter 4"), 10, align="right", color="#33415c")
    title = cast.say("Cómo archivar las facturas recibidas", "How to file incoming invoices")
    y = sheet.prose(LEFT, 96, WIDTH, title, 15, bold=True) + 8
    for text in MANUAL[cast.language]:
        y = sheet.prose(LEFT, y, WIDTH, text, 10.5) + 9
    sheet.text(297, 800, str(cast.random.randint(12, 80)), 9, align="center", color=GREY)


def _layout(draw: Callable[[Sheet, Cast], None], *, held_out: bool = False) -> Layout:
    def without_fields(sheet: Sheet, cast: Cast) -> dict[str, str]:
        draw(sheet, cast)
        return {}

    return Layout(draw.__name__, without_fields, held_out=held_out)


LAYOUTS = (
    _layout(letter),
    _layout(news),
    _layout(minutes, held_out=True),
    _layout(manual, held_out=True),
)

LETTER = {
    "es": (
        "Nos alegra comunicarles que los ensayos del nuevo curso empiezan la primera semana de "
        "octubre en el salón de actos de la biblioteca. Como en años anteriores, no hace falta saber "
        "leer música; basta con venir con ganas de cantar.",
        "Este año preparamos dos conciertos: uno de villancicos en diciembre y otro de canción "
        "popular en mayo. Buscamos sobre todo voces graves, y agradeceremos que lo comenten entre sus "
        "amistades.",
        "Quien quiera ayudar con la organización puede hablar con nosotros al final de cualquier "
        "ensayo. También hacen falta manos para montar el escenario y para preparar la merienda de "
        "los pequeños.",
    ),
    "en": (
        "We are glad to say that rehearsals begin again in the first week of October, in the hall "
        "behind the library. As in other years nobody needs to read music; it is enough to enjoy "
        "singing.",
        "This season we are preparing two concerts, carols in December and folk songs in May. We are "
        "short of low voices above all, so please do mention us to your friends and neighbours.",
        "If you would like to help behind the scenes, speak to any of us after a rehearsal. We also "
        "need hands to put up the stage and to make tea for the children.",
    ),
}  # fmt: skip
HEADLINE = {
    "es": "Las nóminas de la comarca suben por primera vez en cinco años",
    "en": "Payrolls in the valley grow for the first time in five years",
}
NEWS = {
    "es": (
        "Los salarios de la comarca crecieron el año pasado por encima de los precios, según el "
        "informe que presentó ayer la cámara de comercio. La nómina media se acerca ya a la de la "
        "capital de la provincia, algo que no ocurría desde el cierre de la papelera.",
        "El estudio atribuye la mejora a las conserveras y a dos empresas de transporte que han "
        "ampliado plantilla. «Por fin el recibo de salarios deja de ser una mala noticia a final de "
        "mes», resumió la autora del trabajo.",
        "No todos lo ven igual. Los sindicatos recuerdan que las deducciones y las cotizaciones "
        "también han aumentado, y que el líquido que llega a casa apenas cambia para quienes menos "
        "ganan.",
        "El ayuntamiento, por su parte, prepara ayudas para que los comercios pequeños puedan "
        "digitalizar sus facturas y sus contratos antes del verano. El plazo para pedirlas se abrirá "
        "el próximo mes.",
        "La oposición pide que esas ayudas lleguen también a los autónomos, que según sus cuentas son "
        "ya uno de cada cinco trabajadores del valle.",
    ),
    "en": (
        "Wages in the valley rose faster than prices last year, says a report that the chamber of "
        "commerce presented yesterday. The average payroll is now close to that of the county town, "
        "for the first time since the paper mill closed.",
        "The study puts the change down to the canneries and to two haulage firms that have taken on "
        "staff. “A payslip is no longer bad news at the end of the month,” said its author.",
        "Not everyone agrees. Unions point out that deductions have grown as well, and that net pay "
        "has hardly moved for those who earn least.",
        "The council meanwhile plans grants that help small shops to handle their invoices and "
        "contracts by computer before the summer. Applications open next month.",
        "The opposition wants the self-employed to be included. By its count they are already one in "
        "five of the valley's workers.",
    ),
}  # fmt: skip
MINUTES = {
    "es": (
        "Se lee y aprueba el acta de la reunión anterior sin enmiendas.",
        "El administrador explica el estado de las cuentas. Quedan pendientes de revisar dos facturas "
        "del ascensor, que se reclamarán a la empresa de mantenimiento antes de aceptarlas.",
        "Se acuerda pintar la escalera durante el mes de junio. Se pedirán al menos tres presupuestos "
        "y se colgarán en el tablón para que todos puedan verlos.",
        "Se propone instalar un aparcamiento de bicicletas en el patio. La mayoría está a favor; se "
        "votará en la próxima junta cuando se conozca el coste.",
        "En ruegos y preguntas se pide a los vecinos que no dejen bolsas en el portal y que cierren "
        "la puerta de la azotea.",
    ),
    "en": (
        "The minutes of the last meeting were read and approved without change.",
        "The manager explained the accounts. Two invoices for the lift are still being questioned and "
        "will be taken up with the maintenance firm before they are accepted.",
        "It was agreed to paint the stairwell in June. At least three quotations will be asked for "
        "and pinned to the board so that everybody can compare them.",
        "A rack for bicycles in the yard was proposed. Most were in favour; the vote will be held at "
        "the next meeting, when the cost is known.",
        "Under other business, residents were asked not to leave bags in the hall and to keep the "
        "roof door shut.",
    ),
}  # fmt: skip
MANUAL = {
    "es": (
        "Toda factura que llegue por correo o en papel se registra el mismo día. Antes de guardarla "
        "hay que comprobar que lleva número, fecha, datos fiscales de quien la emite y el desglose "
        "del IVA.",
        "Si falta alguno de esos datos, se devuelve al proveedor con una nota amable. No se paga nada "
        "que no tenga un pedido aprobado, aunque el importe total parezca correcto.",
        "Los tickets de gastos pequeños se grapan a una hoja en blanco, con el nombre de quien los "
        "presenta. Las nóminas y los contratos no se archivan aquí: los guarda la responsable de "
        "personal en su propio armario.",
        "Al cierre de cada trimestre se revisa que la suma de las bases y la de las cuotas coincida "
        "con el libro. Las diferencias se anotan a lápiz en el margen y se comentan en la reunión del "
        "lunes.",
        "Los documentos se conservan seis años. Pasado ese tiempo se destruyen con la máquina del "
        "sótano, nunca en la papelera de la cocina.",
    ),
    "en": (
        "Every invoice that arrives by mail or on paper is entered on the same day. Before it is put "
        "away, check that it has a number, a date, the sender's tax details and the tax set out by "
        "rate.",
        "If any of these is missing, send it back with a friendly note. Nothing is paid without an "
        "approved order, even when the total amount looks right.",
        "Receipts for small expenses are stapled to a blank sheet with the name of whoever hands them "
        "in. Payslips and contracts are not filed here: the head of staff keeps them in her own "
        "cabinet.",
        "At the end of each quarter, make sure that the sums of net amounts and of tax agree with the "
        "ledger. Differences are pencilled in the margin and raised at the Monday meeting.",
        "Documents are kept for six years. After that they go through the shredder in the basement, "
        "never into the bin in the kitchen.",
    ),
}  # fmt: skip
