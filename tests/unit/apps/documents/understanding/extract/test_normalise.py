import pytest

from docproc.apps.documents.understanding.extract import normalise


@pytest.mark.parametrize(
    ("written", "comma", "value"),
    [
        ("1.234,56", True, "1234.56"),
        ("1,234.56", False, "1234.56"),
        ("1 234,56", True, "1234.56"),
        ("1'234.56", False, "1234.56"),
        ("12.345.678,90", True, "12345678.90"),
        ("1.234", True, "1234.00"),
        ("1,234", False, "1234.00"),
        ("12,5", True, "12.50"),
        ("12.50", True, "12.50"),  # what cannot be thousands is cents, whatever the document writes
        ("0,99", True, "0.99"),
        ("-17,17", True, "-17.17"),
        ("(17.17)", False, "-17.17"),
        ("120", True, "120.00"),
    ],
)
def test_amounts_of_both_conventions(written: str, comma: bool, value: str) -> None:
    assert normalise.decimal(written, comma) == value


@pytest.mark.parametrize(
    ("written", "day_first", "value"),
    [
        ("12/03/2026", True, "2026-03-12"),
        ("12/03/2026", False, "2026-12-03"),
        ("25/03/2026", False, "2026-03-25"),  # no 25th month
        ("12-03-26", True, "2026-03-12"),
        ("12.03.1998", True, "1998-03-12"),
        ("2026-03-12", True, "2026-03-12"),
        ("01 02 1980", True, "1980-02-01"),
        ("12 de marzo de 2026", True, "2026-03-12"),
        ("march 12, 2026", False, "2026-03-12"),
        ("12th march 2026", True, "2026-03-12"),
        ("12-mar-26", True, "2026-03-12"),
        ("04 jul 1967", True, "1967-07-04"),
    ],
)
def test_dates_as_people_write_them(written: str, day_first: bool, value: str) -> None:
    assert [found for _, _, found in normalise.dates(written, day_first)] == [value]


@pytest.mark.parametrize("written", ["31/02/2026", "1.234,56", "99/99/9999", "tel 91 555 12 12"])
def test_what_is_no_date(written: str) -> None:
    assert normalise.dates(written, True) == []


def test_one_clear_date_decides_for_the_others() -> None:
    assert not normalise.conventions("10/18/18 and 07/09/18").day_first
    assert normalise.conventions("18/10/18 and 07/09/18").day_first


def test_places_decide_where_dates_do_not() -> None:
    assert not normalise.conventions("Redmond, WA 98052\n6/10/2019\nTotal $5.00").day_first
    assert normalise.conventions("Madrid\n6/10/2019\nIVA\nTotal 5,00 €").day_first


def test_odd_writings_are_left_to_dateparser() -> None:
    assert normalise.odd_date("12 de març del 2026", True) == "2026-03-12"
