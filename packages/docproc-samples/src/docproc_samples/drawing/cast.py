"""The invented people, companies and days of one document, drawn from one source of chance."""

from __future__ import annotations

import unicodedata
from copy import copy
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import TypeVar

from docproc_samples.drawing import company_names, identifiers, names, writing

COUNTRIES = {"es": ("ES",), "en": ("GB", "US")}
CURRENCIES = {"ES": "EUR", "GB": "GBP", "US": "USD"}
FIRST_DAY = date(2025, 1, 7)
DAYS = 500
INVENTED_SHARE = 0.7  # of the names of companies; the others come from a list


@dataclass(frozen=True)
class Address:
    street: str
    postcode: str
    city: str
    region: str
    country: str

    @property
    def town(self) -> str:
        if self.country == "ES":
            return f"{self.postcode} {self.city}" + ("" if self.city == self.region else f" ({self.region})")
        comma = ", " if self.country == "US" else " "
        return f"{self.city}{comma}{self.region if self.country == 'US' else ''} {self.postcode}".replace(
            "  ", " "
        )

    @property
    def one_line(self) -> str:
        return f"{self.street}, {self.town}"


@dataclass(frozen=True)
class Party:
    """Anybody whom a document may be from or to."""

    tax_id: str
    address: Address


@dataclass(frozen=True)
class Person(Party):
    given: str
    surnames: str
    sex: str
    birth: date

    @property
    def name(self) -> str:
        return f"{self.given} {self.surnames}"


@dataclass(frozen=True)
class Company(Party):
    name: str
    phone: str
    domain: str
    iban: str

    @property
    def mail(self) -> str:
        return f"{'info' if self.address.country == 'ES' else 'hello'}@{self.domain}"


Known = TypeVar("Known", Company, Person, date)


@dataclass
class Cast:
    random: Random
    language: str
    # Who and when this document is about, to be met in this order before anybody is invented.
    known: list[Company | Person | date] = field(default_factory=list)
    # The chance behind words and looks; two papers of one sender share it.
    habits: Random | None = None
    country: str = field(init=False)

    def __post_init__(self) -> None:
        if self.language not in COUNTRIES:  # a paper in another language, with people and places of Spain
            self.language = "es"
        self.country = self.random.choice(COUNTRIES[self.language])

    @property
    def currency(self) -> str:
        return CURRENCIES[self.country]

    @property
    def spanish(self) -> bool:
        return self.language == "es"

    def say(self, spanish: str, english: str) -> str:
        """The words of the document's language."""
        return spanish if self.spanish else english

    def pick(self, spanish: tuple[str, ...], english: tuple[str, ...]) -> str:
        """One of several ways to say a thing in the document's language."""
        return (self.habits or self.random).choice(spanish if self.spanish else english)

    def repeating(self, seed: int) -> Cast:
        """A twin with its own chance: with the same seed, the pages of one document say the same."""
        twin = copy(self)
        twin.random = Random(seed)
        twin.habits = None
        return twin

    # --- writing

    def money(self, amount: Decimal) -> str:
        return writing.money(amount, self.currency, self.language)

    def number(self, amount: Decimal) -> str:
        return writing.number(amount, self.language)

    def percent(self, rate: Decimal) -> str:
        return writing.percent(rate, self.language)

    def short_date(self, day: date) -> str:
        return writing.short_date(day, self.country)

    def long_date(self, day: date) -> str:
        return writing.long_date(day, self.country)

    # --- invention

    def digits(self, count: int) -> str:
        return identifiers.digits(self.random, count)

    def amount(self, low: int, high: int) -> Decimal:
        """A price between two numbers of cents."""
        return writing.cents(Decimal(self.random.randint(low, high)) / 100)

    def day(self) -> date:
        if known := self._met(date):
            return known
        return FIRST_DAY + timedelta(days=self.random.randrange(DAYS))

    def address(self) -> Address:
        postcode, city, region = self.random.choice(names.CITIES[self.country])
        street, house = self.random.choice(names.STREETS[self.country]), self.random.randint(1, 140)
        spanish_street = f"{street}, {house}" + self.random.choice(("", "", ", 2º B", ", bajo", ", 4º izda."))
        return Address(
            spanish_street if self.spanish else f"{house} {street}", postcode, city, region, self.country
        )

    def person(self) -> Person:
        if known := self._met(Person):
            return known
        sex = self.random.choice("MF")
        given = self.random.choice((names.MALE_NAMES if sex == "M" else names.FEMALE_NAMES)[self.language])
        surnames = self.random.sample(names.SURNAMES[self.language], 2 if self.spanish else 1)
        birth = date(self.random.randint(1958, 2003), 1, 1) + timedelta(days=self.random.randrange(365))
        return Person(self._person_id(), self.address(), given, " ".join(surnames), sex, birth)

    def company(self, trade: str) -> Company:
        if known := self._met(Company):
            return known
        stem = self.random.choice(names.COMPANIES[self.language][trade])
        if trade in ("goods", "services") and self.random.random() < INVENTED_SHARE:
            stem = company_names.stem(self.random, self.language)
        form = self.random.choice(company_names.FORMS[self.country])
        if trade == "bank" and self.spanish:
            form = ", S.A."
        domain = f"{_plain(stem)[:22]}.example"
        return Company(
            self._company_id(company_names.tax_letter(form)),
            self.address(),
            f"{stem}{form}",
            self._phone(),
            domain,
            identifiers.iban(self.random, self.country),
        )

    def sole_trader(self) -> Company:
        """A person who sends invoices in their own name."""
        if known := self._met(Company):
            return known
        person = self.person()
        tax_id = person.tax_id if self.spanish else self._company_id("")
        domain = f"{_plain(person.surnames)}.example"
        account = identifiers.iban(self.random, self.country)
        return Company(tax_id, person.address, person.name, self._phone(), domain, account)

    def _met(self, kind: type[Known]) -> Known | None:
        """The next known one of a kind, which is not met again."""
        for number, one in enumerate(self.known):
            if isinstance(one, kind):
                self.known.pop(number)
                return one
        return None

    def _person_id(self) -> str:
        if self.spanish:
            return identifiers.spanish_dni(self.random)
        if self.country == "GB":  # a National Insurance number; the prefix QQ is never issued
            return f"QQ {' '.join(f'{self.random.randrange(100):02d}' for _ in range(3))} C"
        return f"000-{self.random.randint(10, 99)}-{self.digits(4)}"  # area 000 is never issued

    def _company_id(self, letter: str) -> str:
        if self.spanish:
            return identifiers.spanish_cif(self.random, letter)
        make = identifiers.british_vat_number if self.country == "GB" else identifiers.american_ein
        return make(self.random)

    def _phone(self) -> str:
        if self.spanish:
            return f"9{self.digits(2)} {self.digits(3)} {self.digits(3)}"
        if self.country == "GB":
            return f"01632 {self.digits(6)}"
        return f"({self.digits(3)}) 555-01{self.random.randint(10, 99)}"


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in decomposed if letter.isascii() and letter.isalnum())
