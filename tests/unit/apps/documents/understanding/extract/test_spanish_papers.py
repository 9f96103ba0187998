"""What Spanish papers do: dates in words, whoever acts for a company, corrections, visits, series, brands."""

from __future__ import annotations

import pytest

from docproc.apps.documents.understanding.extract.normalise import dates
from tests.unit.apps.documents.understanding.extract.test_layouts import read


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("a veintiocho de octubre de dos mil veinticuatro.", "2024-10-28"),
        ("a los treinta y un dias del mes de enero de dos mil treinta y cinco", "2035-01-31"),
        ("el 3 de junio de dos mil veintidos", "2022-06-03"),
        ("a uno de mayo del ano dos mil", "2000-05-01"),
    ],
)
def test_date_in_words(written: str, value: str) -> None:
    assert [found for _, _, found in dates(written, True)] == [value]


def test_number_in_words_that_is_no_date() -> None:
    assert dates("dos mil euros en octubre de cada ano", True) == []


LEASE = """
CONTRATO DE ARRENDAMIENTO DE LOCAL
En Burgos, a doce de marzo de dos mil veinticinco.
REUNIDOS
DE UNA PARTE: DON ERNESTO VALDIVIESO LARA, mayor de edad, con D.N.I. número 12345678Z.
Y DE OTRA: DOÑA PILAR ONTAÑÓN RUIZ, mayor de edad, con D.N.I. número
87654321X, en nombre y representación, como administradora solidaria, de la mercantil “OBRADOR
DEL ARLANZÓN, S.L.”, con C.I.F. B09123455 y domicilio social en Burgos.
ESTIPULAN
PRIMERA.- El plazo será de CINCO AÑOS, a contar desde el 1 de abril de 2025.
"""


def test_party_is_the_company_that_a_person_acts_for() -> None:
    found = read("contract", LEASE, "party_a", "party_b")
    assert found == {"party_a": "ERNESTO VALDIVIESO LARA", "party_b": "OBRADOR DEL ARLANZÓN, S.L."}


def test_contract_is_dated_where_it_is_signed_and_not_when_it_begins() -> None:
    assert read("contract", LEASE, "date") == {"date": "2025-03-12"}


FORM = """
CONTRATO DE TRABAJO INDEFINIDO
DATOS DE LA EMPRESA
CIF/NIF/NIE          NOMBRE O RAZÓN SOCIAL DE LA EMPRESA
B09123455            HUERTAS DEL ESLA, S.L.
D./DÑA.                      NIF/NIE          EN CONCEPTO DE
MARTA QUIÑONES VEGA          12345678Z        GERENTE
DATOS DEL/DE LA TRABAJADOR/A
D./DÑA.                      NIF/NIE          FECHA DE NACIMIENTO
RUBÉN CASADO LLORENTE        87654321X        14/09/1999
CLÁUSULAS
TERCERA: La duración será INDEFINIDA, iniciándose la relación laboral en fecha 02/06/2025.
Y para que conste, se extiende este contrato por triplicado.
En LEÓN, a 30 de MAYO de 2025
"""


def test_form_has_its_names_under_their_labels() -> None:
    found = read("contract", FORM, "party_a", "party_b", "date")
    assert found == {
        "party_a": "HUERTAS DEL ESLA, S.L.",
        "party_b": "RUBÉN CASADO LLORENTE",
        "date": "2025-05-30",
    }


def test_first_named_party_is_party_a_whatever_its_role() -> None:
    text = """
Contrato de prestación de servicios
EL CLIENTE                              EL PRESTADOR
Clínica Podológica Tormes, S.L.P.       Darío Benavente Soto
CIF B37123458                           NIF 12345678Z
"""
    found = read("contract", text, "party_a", "party_b")
    assert found == {"party_a": "Clínica Podológica Tormes, S.L.P.", "party_b": "Darío Benavente Soto"}


def test_corrective_invoice_has_its_own_number_and_negative_amounts() -> None:
    text = """
ARTES GRÁFICAS DEL CARRIÓN, S.L.        FACTURA RECTIFICATIVA
NIF B34123452                           Número: R25/0008
                                        Fecha de expedición: 11-03-2025
Factura rectificada: F25/0131 de fecha 20-02-2025. Importe original: 1.812,58 €
Concepto                 Uds.    Precio     Importe
Etiqueta adhesiva          -6     49,80     -298,80
Portes devolución          -1     43,80      -43,80
                         Base imponible   -342,60 €
                         IVA 21%           -71,95 €
                         Total a devolver -414,55 €
"""
    found = read("invoice", text, "invoice_number", "date", "net_amount", "tax_amount", "total_amount")
    assert found == {
        "invoice_number": "R25/0008",
        "date": "2025-03-11",
        "net_amount": "-342.60",
        "tax_amount": "-71.95",
        "total_amount": "-414.55",
    }


def test_invoice_is_dated_by_its_head_and_not_by_the_visits_it_charges() -> None:
    text = """
Factura  N.º 2026-0049
                                      Soria, 19 de enero de 2026
Fecha         Tratamiento                      Importe
12/01/2026    Limpieza bucodental              55,00 €
14/01/2026    Obturación composite             68,00 €
                              Total factura   123,00 €
"""
    assert read("invoice", text, "date") == {"date": "2026-01-19"}


@pytest.mark.parametrize("number", ["A/ 2401946", "1 - 000518"])
def test_series_apart_from_the_number(number: str) -> None:
    text = f"""
DOCUMENTO    NUMERO         PAGINA    FECHA
FACTURA      {number}     1         31/10/2024
"""
    assert read("invoice", text, "invoice_number") == {"invoice_number": number}


def test_tax_that_the_total_includes_is_the_tax_and_not_the_shipping() -> None:
    text = """
Subtotal                61,25€
Envío                    4,95€ vía mensajero
Total                   66,20€ (incluye 11,49€ IVA)
"""
    found = read("invoice", text, "tax_amount", "total_amount")
    assert found == {"tax_amount": "11.49", "total_amount": "66.20"}


def test_quotas_of_a_bill_are_added_though_smaller_amounts_make_a_sum() -> None:
    text = """
CONCEPTO                CANTIDAD   PRECIO    IMPORTE   % IVA
CUOTA SERVICIO AGUA     1 trim     7,8400       7,84   10
CONSUMO BLOQUE 1        18 m3      0,4120       7,42   10
CONSUMO BLOQUE 2        9 m3       0,7935       7,14   10
CONSERVACION            1 trim     1,2500       1,25   21
ALCANTARILLADO          27 m3      0,2810       7,59   10
CANON                   27 m3      0,4410      28,41   N.S.
BASE        % IVA     CUOTA        TOTAL FACTURA   62,91 €
29,99       10,00      3,00
 1,25       21,00      0,26
28,41       No sujeto  0,00
"""
    assert read("invoice", text, "tax_amount") == {"tax_amount": "3.26"}


def test_company_of_the_small_print_is_the_vendor_and_not_its_sign() -> None:
    text = """
HOTEL MIRADOR DEL PISUERGA
Sr. Anselmo Rueda Pinto                 Factura    25/004417
MAQUINARIA DUERO, S.A.
Polígono San Cristóbal, nave 7          Fecha      14/06/2025
47012 Valladolid
CIF: A47229317
Fecha       Descripción          Cargos
12/06/25    Alojamiento           96,00
13/06/25    Alojamiento           96,00
            Total                192,00
Explotaciones Hosteleras Vaccea, S.L. · CIF B47871208 · Calle del Río, 62 · 47008 Valladolid
"""
    found = read("invoice", text, "vendor_name", "customer_name")
    assert found == {
        "vendor_name": "Explotaciones Hosteleras Vaccea, S.L.",
        "customer_name": "MAQUINARIA DUERO, S.A.",
    }


def test_self_employed_vendor_is_the_person_with_the_number() -> None:
    text = """
Distribuciones Lamas                      Factura
Brais Antón Lamas Otero
Rúa do Peirao, 20
36600 Vilagarcía de Arousa
N.I.F.: 12345678Z
"""
    assert read("invoice", text, "vendor_name") == {"vendor_name": "Brais Antón Lamas Otero"}


def test_heading_of_the_next_column_is_no_customer() -> None:
    text = """
FACTURA                                        Climas del Teide SLU
FACTURAR A                                     REFORMA           N.º DE FACTURA GC-25-0312
Comunidad de Propietarios Edificio Drago       Portería          FECHA 30/08/2025
CIF H35511070                                  Paseo Largo 4
"""
    found = read("invoice", text, "customer_name")
    assert found == {"customer_name": "Comunidad de Propietarios Edificio Drago"}


def test_trade_name_in_brackets_is_left_out() -> None:
    text = """
CLIENTE: MARÍA JESÚS BARRIO HOLGADO (ULTRAMARINOS CHUS)     NIF 12345678Z
"""
    assert read("invoice", text, "customer_name") == {"customer_name": "MARÍA JESÚS BARRIO HOLGADO"}


def test_surname_that_is_also_a_street_is_a_name() -> None:
    text = """
FACTURA  A2024-001287   07-10-2024

                                   FAUSTINO ARRANZ DE LA CALLE
                                   CL ERAS 17
                                   40237 VALDEOLMILLA
                                   D.N.I.: 12345678Z
"""
    assert read("invoice", text, "customer_name") == {"customer_name": "FAUSTINO ARRANZ DE LA CALLE"}


def test_chemist_stands_under_the_sign() -> None:
    text = """
FARMACIA PUERTA DEL SOTO
Lda. Mª Ángeles Cano Vela
C/ Ancha 9 - 41003 SEVILLA
N.I.F. 12345678Z
Fecha: 05/11/2025   12:07
TOTAL A PAGAR       25,84 €
"""
    assert read("receipt", text, "vendor_name") == {"vendor_name": "FARMACIA PUERTA DEL SOTO"}


def test_payslip_of_an_employer_who_is_a_person() -> None:
    text = """
NÓMINA ABRIL 2025
Empresa        Peluquería Chelo
Titular        Rosario Benítez Galán
NIF            87654321X
Trabajadora    Yaiza Cabrera Medina
DNI            12345678Z
TOTAL BRUTO                 1.381,33 €
"""
    found = read("payslip", text, "employee_name", "employee_tax_id")
    assert found == {"employee_name": "Yaiza Cabrera Medina", "employee_tax_id": "12345678Z"}


def test_ministry_is_the_company_and_not_the_state() -> None:
    text = """
GOBIERNO DE ESPAÑA                                    RECIBO DE NÓMINA
MINISTERIO PARA LA REFORMA ADMINISTRATIVA
Mes: NOVIEMBRE 2024
NIF: S2800114G
APELLIDOS Y NOMBRE            N.I.F.
ORTIZ MARRODÁN, JESÚS         12345678Z
"""
    found = read("payslip", text, "company_name")
    assert found == {"company_name": "MINISTERIO PARA LA REFORMA ADMINISTRATIVA"}
