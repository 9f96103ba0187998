"""What real documents do to a page: wrapped names, several rates, turned margins, forms, other numbers."""

from __future__ import annotations

import pytest

from docproc.apps.documents.understanding.extract.checks import PRINTED, checked
from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.layout import layout
from docproc.apps.documents.understanding.extract.normalise import decimal
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.reading.page import PageText, Source, Word
from docproc_samples.training.prints import page

AMOUNTS = ("net_amount", "tax_amount", "total_amount", "withheld_amount", "gross_amount", "total_deductions")


def read(doc_type: str, text: str, *names: str) -> dict[str, str | None]:
    specs = [
        FieldSpec(name, "decimal" if name in AMOUNTS else "date" if name == "date" else "string")
        for name in names
    ]
    found = extract(doc_type, specs, [page(text)])
    return {name: value.value if (value := found[name]) else None for name in names}


WRAPPED = """
SUMINISTROS HOSTELEROS DEL                    FACTURA
SUR SL                                        NÚMERO         FECHA        CLIENTE
POL. IND. GUADALHORCE, NAVE 4                 A/24 003412    28-06-24     000871
29004 MÁLAGA
C.I.F. B29887766

                                              Bufete Mora y Asociados,
                                              S.L.P.
                                              CIF: B03998879
                                              Avda. Maisonnave, 11
                                              03003 Alicante

Código     Artículo                Cant.    Precio     Importe   IVA
10045      ACEITE OLIVA 5L           6      38,50      231,00    4
20110      REFRESCO COLA 24X33      10      13,49      134,90    10
30001      SERVILLETA 40X40          4      83,90      335,60    21

   BASE IMPONIBLE    % IVA    CUOTA IVA         TOTAL FACTURA
           231,00     4,00         9,24
           134,90    10,00        13,49             794,74 €
           335,60    21,00        70,51
"""


def test_name_runs_on_to_the_next_line_of_its_column() -> None:
    found = read("invoice", WRAPPED, "vendor_name", "customer_name")
    assert found == {
        "vendor_name": "SUMINISTROS HOSTELEROS DEL SUR SL",
        "customer_name": "Bufete Mora y Asociados, S.L.P.",
    }


def test_bases_and_taxes_of_all_rates_are_added_though_one_is_rounded_by_line() -> None:
    found = read("invoice", WRAPPED, "net_amount", "tax_amount", "total_amount")
    assert found == {"net_amount": "701.50", "tax_amount": "93.24", "total_amount": "794.74"}


def test_number_with_its_series_is_one() -> None:
    assert read("invoice", WRAPPED, "invoice_number") == {"invoice_number": "A/24 003412"}


def test_labelled_name_goes_on_under_its_label() -> None:
    text = """
Empresa: TALLERES HERMANOS               Trabajador: OTERO VÁZQUEZ, BRAIS
QUIROGA, S.L.                            N.I.F.: 44488123M
Domicilio: Rúa do Progreso, 88           Categoría: OFICIAL 2ª
"""
    assert read("payslip", text, "company_name") == {"company_name": "TALLERES HERMANOS QUIROGA, S.L."}


def test_on_a_receipt_the_sign_is_wanted_and_not_glued_to_its_company() -> None:
    text = """
        TODO HOGAR LIN
     TODO HOGAR LIN, S.L.
      C.I.F.: B05677174
     CALLE SAN ANTÓN, 67
        18005 GRANADA

26/04/2025   13:09
TOTAL              12,50 EUR
"""
    assert read("receipt", text, "vendor_name") == {"vendor_name": "TODO HOGAR LIN"}


def test_withheld_tax_is_an_amount_without_its_minus_and_sure_where_the_sum_needs_it() -> None:
    text = """
Lucía Ferrándiz Olmo
NIF: 74123456E
03002 Alicante

FACTURA NÚM. 2025/007       Alicante, a 3 de febrero de 2025

Base imponible                538,20 €
I.V.A. (21 %)                 113,02 €
Retención I.R.P.F. (15 %)     -80,73 €
TOTAL A PERCIBIR              570,49 €
"""
    spec = [FieldSpec(name, "decimal") for name in AMOUNTS[:4]]
    found = extract("invoice", spec, [page(text)])["withheld_amount"]
    assert found is not None and found.value == "80.73" and found.confidence > 0.75


@pytest.mark.parametrize(
    ("text", "parties"),
    [
        (
            """
En Granada, a 9 de julio de 2025.
COMPARECEN
Dª Rocío Martínez Arroyo, con DNI 13070173D, en nombre y representación de Informática
Celeste, C.B., con CIF E06272959 y domicilio en Calle San Antón, 45, Madrid (en
adelante, «LA PARTE DIVULGADORA»).
D. Luis Puig Ibáñez, mayor de edad, con DNI 14731427L y domicilio en Gijón (en adelante, «LA OTRA»).
PACTOS
1.- Información confidencial.
""",
            ("Informática Celeste, C.B.", "Luis Puig Ibáñez"),
        ),
        (
            """
REUNIDOS
De una parte, D. Juan Gil Mora, con DNI 13070173D, en nombre y representación de la mercantil
Obras Gil, S.L., con CIF B06272959, en adelante EL CONTRATISTA.
De otra parte, Dña. Eva Ruiz Sanz, mayor de edad, con DNI 14731427L, en adelante EL CLIENTE.
EXPONEN
""",
            ("Obras Gil, S.L.", "Eva Ruiz Sanz"),
        ),
        (
            """
CONTRATO DE TRABAJO TEMPORAL
DATOS DE LA EMPRESA
CIF/NIF                   B49372071
D./Dña.                   Martín Peñalver Cabrera
Nombre o razón social     Gestoría Puerta Nueva, S.L.
DATOS DE LA PERSONA TRABAJADORA
D./Dña.                   Ana Belén Martínez Cañizares
NIF/NIE                   40650947B
CLÁUSULAS
""",
            ("Gestoría Puerta Nueva, S.L.", "Ana Belén Martínez Cañizares"),
        ),
    ],
)
def test_party_is_whom_a_person_acts_for(text: str, parties: tuple[str, str]) -> None:
    found = read("contract", text, "party_a", "party_b")
    assert (found["party_a"], found["party_b"]) == parties


def test_statement_is_dated_by_its_head_not_by_its_last_movement() -> None:
    text = """
banco.example                                     07/10/2025
Últimos movimientos
Titular: SERGIO DÍAZ QUIROGA
Fecha         Descripción                    Importe        Saldo
06/10/2025    Recibo seguro del hogar      -202,40 €   5.478,73 €
04/10/2025    Transferencia emitida        -105,01 €   5.751,76 €
03/10/2025    Recibo luz                   -196,69 €   6.126,36 €
"""
    assert read("bank_statement", text, "date") == {"date": "2025-10-07"}


def test_codes_of_articles_and_postcodes_are_no_invoice_number() -> None:
    text = """
Razón social:     Montajes Eléctricos S.L.           F. factura
Domicilio:        Calle Virgen del Pilar, 116        09/08/2025
C.P./Población:   48009 Bilbao                       Factura nº
NIF:              B19662709                          FV-2025-3415

Ref.      Uds.   Descripción                % IVA   P. unitario   Importe
AR-163    8,00   Archivador de palanca      21 %          3,50     28,00
57488     4,00   Papel A4 80 g              21 %          5,30     21,20
"""
    assert read("invoice", text, "invoice_number") == {"invoice_number": "FV-2025-3415"}


def test_exempt_invoice_has_no_tax_though_two_items_make_the_total() -> None:
    text = """
5   Asesoría contable        231,25    1.156,25 €
8   Sesión fotográfica       411,60    3.292,80 €
                    BASE IMP.:         4.449,05 €
                    I.V.A. 0 %:            0,00 €
                    TOTAL FACTURA:     4.449,05 €
"""
    found = read("invoice", text, "net_amount", "tax_amount", "total_amount")
    assert found == {"net_amount": "4449.05", "tax_amount": "0.00", "total_amount": "4449.05"}


def test_print_that_runs_up_a_margin_is_one_line() -> None:
    words = [
        Word(text, (0.02, y, 0.03, y + 0.04), 1.0, line)
        for line, (text, y) in enumerate(
            (("S.L.", 0.3), ("Sur,", 0.4), ("del", 0.5), ("Obras", 0.6), ("CIF:", 0.2))
        )
    ]
    beside = Word("Total", (0.5, 0.41, 0.6, 0.43), 1.0, 1)
    lines = layout([PageText((*words, beside), Source.TEXT_LAYER, 595, 842)]).lines
    assert [line.text for line in lines] == ["Total", "Obras del Sur, S.L. CIF:"]


@pytest.mark.parametrize(("written", "value"), [("1,963 76", "1963.76"), ("1.963 76", "1963.76")])
def test_cents_that_lost_their_mark(written: str, value: str) -> None:
    assert decimal(written, decimal_comma=False) == value


def test_check_digit_that_was_printed_wrong_only_lowers_the_confidence() -> None:
    spec = FieldSpec("customer_tax_id", validators=("nif",))
    after = checked(spec, FieldValue("A15012344", 0.95, Source.TEXT_LAYER, 0, None))
    assert after is not None and after.confidence == PRINTED and after.reason
    misread = checked(spec, FieldValue("A15012344", 0.95, Source.OCR, 0, None))
    assert misread is not None and misread.confidence < 0.2
