import pytest

from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from tests.pages import page_of

FIELDS = (
    FieldSpec("full_name"),
    FieldSpec("id_number"),
    FieldSpec("date_of_birth", "date"),
    FieldSpec("expiry_date", "date"),
)

SPANISH = """
E   PERMISO DE CONDUCCIÓN   REINO DE ESPAÑA
1. RUIZ MORA
2. ÁLVARO
3. 17-12-1990 BADAJOZ
4a. 03-05-2021   4c. 06/01
4b. 03-05-2031
5. 99999999-R
9. AM / A2 / B
"""
TWO_LINES = """
PERMISO DE CONDUCCION
1. CASTAÑO
   BERMEJO
2. EVA
3. 17/12/1990 ESPAÑA
4a. 03/05/2021   4b. 03/05/2031
5. 99999999R
"""
GERMAN = """
FÜHRERSCHEIN   BUNDESREPUBLIK DEUTSCHLAND
1. Beispiel
2. Ute
3. 12.08.64 Berlin
4a. 25.04.18   4c. Landratsamt
4b. 24.04.33
5. J010000SD51
"""
BRITISH = """
DRIVING LICENCE   UK
1. SAMPLE
2. MS SARAH ANN
3. 11.03.1976 UNITED KINGDOM
4a. 19.01.2013   4b. 18.01.2033   4c. DVLA
5. SAMPL753116SA9IJ 35
"""
STACKED = """
ESP   PERMISO DE RESIDENCIA   E12345678
APELLIDOS NOMBRE / SURNAMES NAME
OKAFOR
GRACE MERCY
SEXO    NACIONALIDAD    FECHA NAC.
F       NGA             30 06 1992
NIE
X1234567L
VÁLIDO HASTA / VALID UNTIL
18 11 2029
"""
COMMA = """
PERMISO DE RESIDENCIA
APELLIDOS Y NOMBRE
OKAFOR BELLO, GRACE
FECHA DE NACIMIENTO   30-06-1992
N.I.E.   X1234567L
VÁLIDO HASTA   18-11-2029
"""
CATALAN = """
DOCUMENTO NACIONAL DE IDENTIDAD / DOCUMENT NACIONAL D'IDENTITAT
APELLIDOS / COGNOMS
PUIG
FERRER
NOMBRE / NOM
JORDI
SEXO / SEXE    NACIONALIDAD / NACIONALITAT    FECHA DE NACIMIENTO / DATA DE NAIXEMENT
M              ESP                            12 05 1975
NÚM. SOPORTE / NÚM. SUPORT    VALIDEZ / VALIDESA
BAB123456                     03 04 2029
DNI NÚM. 99999999R
"""
AMERICAN = """
STATE OF EXAMPLE   DRIVER LICENSE
1 SAMPLE
2 SARAH ANN
3 DOB 03/11/1976
4a ISS 01/09/2013   4b EXP 01/08/2033
4d DLN I1234562
"""


def read(text: str) -> tuple[str | None, ...]:
    found = extract("id_card", FIELDS, [page_of(text)])
    return tuple(value.value if (value := found[field.name]) else None for field in FIELDS)


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        (SPANISH, ("ÁLVARO RUIZ MORA", "99999999-R", "1990-12-17", "2031-05-03")),
        (TWO_LINES, ("EVA CASTAÑO BERMEJO", "99999999R", "1990-12-17", "2031-05-03")),
        (GERMAN, ("Ute Beispiel", "J010000SD51", "1964-08-12", "2033-04-24")),
        (BRITISH, ("SARAH ANN SAMPLE", "SAMPL753116SA9IJ", "1976-03-11", "2033-01-18")),
        (AMERICAN, ("SARAH ANN SAMPLE", "I1234562", "1976-03-11", "2033-01-08")),
    ],
    ids=["Spanish", "two lines", "German", "British", "American"],
)
def test_licences_are_read_by_their_numbers(card: str, expected: tuple[str, ...]) -> None:
    assert read(card) == expected


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        (STACKED, ("GRACE MERCY OKAFOR", "X1234567L", "1992-06-30", "2029-11-18")),
        (COMMA, ("GRACE OKAFOR BELLO", "X1234567L", "1992-06-30", "2029-11-18")),
        (CATALAN, ("JORDI PUIG FERRER", "99999999R", "1975-05-12", "2029-04-03")),
    ],
    ids=["stacked", "comma", "Catalan"],
)
def test_names_come_given_name_first(card: str, expected: tuple[str, ...]) -> None:
    assert read(card) == expected
