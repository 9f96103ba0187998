import pytest

from docproc.apps.documents.reasons import sentence
from docproc.apps.documents.understanding import validate


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("nif", "12345678Z"),
        ("nif", "12.345.678-Z"),
        ("dni", "12345678Z"),
        ("nie", "X1234567L"),
        ("cif", "A58818501"),
        ("tax_id", "ESA58818501"),
        ("tax_id", "DE136695976"),
        ("iban", "ES91 2100 0418 4502 0005 1332"),
        ("date", "2026-03-12"),
        ("amount", "1250.00"),
        ("amount", "-3.5"),
        ("currency", "EUR"),
        ("tax_id", "12-3456789"),
        ("tax_id", "GB 980 7806 84"),
        ("bic", "BSCHESMMXXX"),
        ("naf", "28 12345678 40"),
        ("naf", "080123456774"),
        ("cups", "ES 1234 1234 5678 9012 JY 0F"),
        ("cadastral_reference", "7837301-VG8173B-0001 TT"),
        ("credit_card", "4111 1111 1111 1111"),
        ("postal_code", "28013"),
        ("date_not_future", "2020-01-31"),
        ("positive", "0.01"),
    ],
)
def test_right_values_have_no_problem(kind: str, value: str) -> None:
    assert validate.check(kind, value) is None


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        ("nif", "12345678A", "check digits"),
        ("iban", "ES91 2100 0418 4502 0005 1333", "check digits"),
        ("tax_id", "B00000001", "neither"),
        ("date", "12/03/2026", "year-month-day"),
        ("date", "2026-02-30", "not a date"),
        ("date", "1026-02-03", "likely"),
        ("amount", "1.250,00", "point"),
        ("amount", "NaN", "not an amount"),
        ("currency", "€", "EUR"),
        ("naf", "28 12345678 41", "NAF"),
        ("bic", "BSCH", "BIC"),
        ("credit_card", "4111 1111 1111 1112", "check digits"),
        ("postal_code", "99013", "province"),
        ("positive", "0.00", "above zero"),
        ("mrz", "nothing here", "no machine-readable zone"),
        ("nif", " ", "empty"),
    ],
)
def test_wrong_values_are_explained(kind: str, value: str, says: str) -> None:
    problem = validate.check(kind, value)
    assert problem is not None and says in sentence(problem)


def test_unknown_validators_name_the_known_ones() -> None:
    with pytest.raises(ValueError, match="iban"):
        validate.check("shoe_size", "42")
