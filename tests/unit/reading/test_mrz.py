import pytest

from docproc.reading import mrz

SPANISH = [
    "IDESPBAA000589599999999R<<<<<<",
    "8001014F2501017ESP<<<<<<<<<<<7",
    "ESPANOLA<ESPANOLA<<CARMEN<<<<<",
]
PASSPORT = ["P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<", "L898902C36UTO7408122F1204159ZE184226B<<<<<10"]


def test_spanish_card_gives_the_number_of_the_person_not_of_the_plastic() -> None:
    holder = mrz.parse(["some text", *SPANISH])
    assert holder is not None and holder.valid
    assert holder.number == "99999999R"
    assert holder.name == "CARMEN ESPANOLA ESPANOLA"
    assert (holder.birth, holder.expiry, holder.nationality) == ("1980-01-01", "2025-01-01", "ESP")
    assert holder.lines == (1, 2, 3)


def test_passport() -> None:
    holder = mrz.parse(PASSPORT)
    assert holder is not None and holder.valid
    assert (holder.name, holder.number) == ("ANNA MARIA ERIKSSON", "L898902C3")
    assert (holder.birth, holder.expiry) == ("1974-08-12", "2012-04-15")


def test_letters_read_for_digits_are_put_right() -> None:
    noisy = [SPANISH[0], SPANISH[1].replace("8001014", "8OO1O14"), SPANISH[2]]
    holder = mrz.parse(noisy)
    assert holder is not None and holder.valid and holder.birth == "1980-01-01"


def test_wrong_check_digit_is_told() -> None:
    holder = mrz.parse([SPANISH[0], SPANISH[1].replace("8001014", "8001024"), SPANISH[2]])
    assert holder is not None and not holder.valid


def test_page_without_zone() -> None:
    assert mrz.parse(["FACTURA", "Total 12,00", ""]) is None


@pytest.mark.parametrize(
    ("right", "read"),
    [
        ("BAA000589", "BAAOOO589"),  # letters for digits
        ("BAA000589", "8AA000589"),  # and one digit for a letter
        ("<<<<<<", "«««"),
        ("<<<<<<", "<(<{<"),
        ("<<<<<<", "<ccck<<"),
    ],
)
def test_confused_signs_are_put_right_where_a_digit_confirms(right: str, read: str) -> None:
    holder = mrz.parse([SPANISH[0].replace(right, read), *SPANISH[1:]])
    assert holder is not None and holder.valid and holder.number == "99999999R"


def test_number_read_all_in_letters_is_confirmed_by_the_digits() -> None:
    zone = [
        "IDESPCAA000000439337243K<<<<<<",
        "8312251F3201015ESP<<<<<<<<<<<2",
        "BELMONTE<IBANEZ<<AITANA<<<<<<<",
    ]
    holder = mrz.parse([zone[0].replace("CAA0000004", "CAAOOOOOO4"), *zone[1:]])
    assert holder is not None and holder.valid and holder.number == "39337243K"


def test_fillers_lost_before_the_last_digit_are_put_back() -> None:
    holder = mrz.parse([SPANISH[0], "8001014F2501017ESP<<<<<<<<<7", SPANISH[2] + "<<"])
    assert holder is not None and holder.valid and holder.is_complete
    passport = mrz.parse([PASSPORT[0], PASSPORT[1].replace("<<<<<", "<<<<")])
    assert passport is not None and passport.valid


def test_last_digit_covers_what_no_other_does() -> None:
    holder = mrz.parse([PASSPORT[0], PASSPORT[1].replace("ZE184226B", "ZE184227B")])
    assert holder is not None and holder.failed == {"composite"}


def test_spanish_number_that_cannot_be_is_told() -> None:
    holder = mrz.parse([SPANISH[0].replace("99999999R", "99999991R"), *SPANISH[1:]])
    assert holder is not None and holder.number == "99999991R" and "number" in holder.failed


def test_residence_card_gives_the_nie_and_the_own_nationality() -> None:
    zone = [
        "IRESPE000000008X0000000T<<<<<<",
        "8001014M2501017MAR<<<<<<<<<<<0",
        "EJEMPLO<<AMINE<<<<<<<<<<<<<<<<",
    ]
    holder = mrz.parse([zone[0].replace("X0000000T", "XOOOOOOOT"), *zone[1:]])
    assert holder is not None and holder.valid
    assert (holder.number, holder.nationality, holder.sex) == ("X0000000T", "MAR", "M")


def test_td2() -> None:
    zone = ["I<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<", "D231458907UTO7408122F1204159<<<<<<<6"]
    holder = mrz.parse(zone)
    assert holder is not None and holder.valid and holder.number == "D23145890"
