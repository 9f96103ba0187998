"""Invented numbers with right check digits: tax ids, accounts, social security."""

from __future__ import annotations

from random import Random

from stdnum import iban as any_iban
from stdnum.es import ccc, cif, dni


def digits(random: Random, count: int) -> str:
    """Digits of which the first is not zero."""
    return str(random.randint(10 ** (count - 1), 10**count - 1))


def spanish_dni(random: Random) -> str:
    number = digits(random, 8)
    return number + dni.calc_check_digit(number)


def spanish_cif(random: Random, letter: str) -> str:
    """A company's tax id; `letter` says its legal form: A for S.A., B for S.L., F for cooperatives."""
    start = f"{letter}{random.randint(1, 52):02d}{random.randint(10000, 99999)}"
    return start + cif.calc_check_digits(start)[0]


def british_vat_number(random: Random) -> str:
    start = digits(random, 7)
    weighted = sum(weight * int(digit) for weight, digit in zip(range(8, 1, -1), start, strict=True))
    return f"GB{start}{97 - weighted % 97:02d}"


def american_ein(random: Random) -> str:
    return f"{random.choice(('20', '26', '27', '45', '46', '81', '82'))}-{digits(random, 7)}"


def iban(random: Random, country: str) -> str:
    if country == "ES":
        bank, account = f"{random.choice(SPANISH_BANKS)}{digits(random, 4)}", digits(random, 10)
        bban = bank + ccc.calc_check_digits(f"{bank}00{account}") + account
    else:
        country, bban = "GB", f"{random.choice(BRITISH_BANKS)}{digits(random, 6)}{digits(random, 8)}"
    return country + any_iban.calc_check_digits(f"{country}00{bban}") + bban


def in_groups(number: str, size: int = 4) -> str:
    """`ES9121000418…` as people print it: `ES91 2100 0418 …`."""
    return " ".join(number[start : start + size] for start in range(0, len(number), size))


def social_security(random: Random) -> str:
    """A worker's affiliation number: province, eight digits, and the remainder by 97."""
    province, number = f"{random.randint(1, 50):02d}", digits(random, 8)
    return f"{province}/{number}/{int(province + number) % 97:02d}"


def contribution_account(random: Random) -> str:
    """An employer's account: province, seven digits, and the remainder by 97."""
    province, number = f"{random.randint(1, 50):02d}", digits(random, 7)
    return f"{province}/{number}/{int(province + number) % 97:02d}"


# Codes that no bank of the day uses.
SPANISH_BANKS = ("9021", "9087", "9143", "9330", "9502")
BRITISH_BANKS = ("ZQNB", "ZHLB", "ZMVB")
