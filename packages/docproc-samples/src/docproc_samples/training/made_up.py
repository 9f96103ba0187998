"""Pages of text generated from recipes: every one different, none of a document that exists."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from docproc.reading.page import PageText
from docproc.reading.plain_text import page_of
from docproc_samples.drawing import identifiers, names, writing
from docproc_samples.drawing.cast import Cast
from docproc_samples.training import recipes
from docproc_samples.training.recipes import Recipe

POOLS: dict[str, tuple[Recipe, ...]] = {
    "invoice": (*recipes.INVOICE, *recipes.INVOICE_EUROPE, *recipes.INVOICE_CONTINUED),
    "receipt": recipes.RECEIPT,
    "id_card": recipes.ID_CARD,
    "payslip": recipes.PAYSLIP,
    "contract": (*recipes.CONTRACT, *recipes.CONTRACT_CONTINUED),
    "bank_statement": recipes.BANK_STATEMENT,
    "other": recipes.OTHER,
}
CONTINUED = (*recipes.INVOICE_CONTINUED, *recipes.CONTRACT_CONTINUED)  # pages that begin nothing
_CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_KEPT = (0.55, 0.75, 0.9, 1.0)  # the share of a recipe's lines that a page gets is one of these
_JOBS = {
    "es": ("administrativo", "Contabilidad", "conductor", "Enfermería", "oficial de 1ª", "comercial",
           "Dirección", "limpieza", "camarero", "programadora", "Recursos Humanos", "mozo de almacén"),
    "en": ("accountant", "Sales", "driver", "nurse", "Human Resources", "engineer", "Director", "clerk",
           "teacher", "warehouse operative", "Marketing", "consultant"),
}  # fmt: skip


def pages(kind: str, count: int, random: Random) -> list[PageText]:
    """`count` pages of a type; all recipes in turn."""
    pool = POOLS[kind]
    return [page(pool[number % len(pool)], kind, random) for number in range(count)]


def page(recipe: Recipe, kind: str, random: Random) -> PageText:
    """The page laid out in the paper format of its type: a sheet or part of one, a till roll, a card."""
    cooked = text(recipe, random)
    rows = cooked.count("\n") + 1
    if kind == "receipt" and random.random() < 0.8:
        return page_of(_narrow(cooked), width=226, height=40 + 12.0 * rows, columns=36, rows=rows)
    if kind == "id_card" and random.random() < 0.5:
        return page_of(cooked, width=856, height=540, columns=48, rows=max(rows, 12))
    if random.random() < 0.08:
        return page_of(cooked, width=842, height=595, columns=130, rows=42)
    return page_of(
        _indented(cooked, random), columns=random.choice((78, 90, 105)), rows=random.choice((50, 60, 72))
    )


def text(recipe: Recipe, random: Random, *, rows: int = 1) -> str:
    """The lines of a page, or of several: `rows` times as many in its tables."""
    language, titles, body = recipe
    cast = Cast(random, "en" if language == "en" else "es")
    kept = random.choice(_KEPT)
    title = random.choice(titles.split("|")) if random.random() < 0.8 else ""
    lines: list[str] = []
    for line in _mixed(body.strip("\n").split("\n"), random):
        if line[0] != "*" and random.random() > kept:
            continue
        times = rows * random.choice((1, 2, 3, 5, 8, 13)) if line[0] == "*" else 1
        lines += [_filled(line.removeprefix("*"), cast) for _ in range(times)]
    if title:
        lines.insert(random.choice((0, 0, 1, 2)), _filled(title, cast))
    return "\n".join(line for line in lines if line.strip()) or _filled("{company}", cast)


def _mixed(lines: list[str], random: Random) -> list[str]:
    """Running text becomes shuffled sentences; elsewhere two lines change places now and then."""
    start = next((at for at, line in enumerate(lines) if line.startswith("~")), None)
    if start is None:
        for at in range(1, len(lines) - 1):
            if random.random() < 0.15:
                lines[at], lines[at + 1] = lines[at + 1], lines[at]
        return lines
    end = lines.index("!") if "!" in lines else len(lines)
    first, sentences = lines[start][1:], lines[start + 1 : end]
    random.shuffle(sentences)
    chosen = [first, *sentences[: random.randint(3, len(sentences))]]
    return [*lines[:start], *_wrapped(" ".join(chosen), random.choice((60, 80, 95))), *lines[end + 1 :]]


def _wrapped(text: str, width: int) -> list[str]:
    lines, line = [], ""
    # The width is only approximate: slots like `{company}` are filled with texts that contain spaces.
    for word in text.split(" "):
        if len(line) > width and line.count("[") == line.count("]"):
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    return [*lines, line]


def _filled(line: str, cast: Cast) -> str:
    while choice := _CHOICE.search(line):
        line = line[: choice.start()] + cast.random.choice(choice[1].split("|")) + line[choice.end() :]
    line = line.replace("[", "").replace("]", "")
    return _SLOT.sub(lambda slot: _FILLINGS[slot[1]](cast), line)


def _narrow(text: str) -> str:
    """Lines that are longer than a till roll is wide are broken."""
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, 30))


def _indented(text: str, random: Random) -> str:
    """Where a line starts: amounts are set to the right, and so are some blocks."""
    indent = random.choice((0, 0, 0, 20, 40))
    lines = []
    for number, line in enumerate(text.split("\n")):
        head, _, tail = line.rpartition(" ")
        if head and tail[:1].isdigit() and len(line) < 60:
            line = f"{head.ljust(60)}{tail}"
        lines.append(" " * indent * (number in range(2, 6)) + line)
    return "\n".join(lines)


def _amount(cast: Cast) -> str:
    random = cast.random
    text = writing.number(cast.amount(90, random.choice((3_000, 90_000, 900_000))), cast.language)
    sign = ("", "", "", " €", "€") if cast.spanish else ("", "", "$", "£", "")
    chosen = random.choice(sign)
    return f"{chosen}{text}" if not cast.spanish else f"{text}{chosen}"


def _item(cast: Cast) -> str:
    goods = names.GROCERIES[cast.language]
    stems = [stem for group in names.COMPANIES[cast.language].values() for stem in group]
    return cast.random.choice(goods)[0] if cast.random.random() < 0.5 else cast.random.choice(stems)


def _number(cast: Cast) -> str:
    random = cast.random
    prefix = random.choice(("", "", "A-", "F", "2025/", "FV-", "INV-", "0"))
    return prefix + cast.digits(random.randint(3, 9))


def _company(cast: Cast) -> str:
    name = cast.company(cast.random.choice(list(names.COMPANIES[cast.language]))).name
    return name.upper() if cast.random.random() < 0.4 else name


def _month(cast: Cast) -> str:
    return cast.random.choice(writing.MONTHS[cast.language])


_FILLINGS: dict[str, Callable[[Cast], str]] = {
    "amount": _amount,
    "birth": lambda cast: cast.day().strftime(
        cast.random.choice(("%d %m %Y", "%d-%m-%Y", "%m/%d/%Y", "%d/%m/%Y"))
    ),
    "cif": lambda cast: cast.company("shop").tax_id,
    "city": lambda cast: cast.address().town,
    "company": _company,
    "date": lambda cast: cast.random.choice(writing.date_writings(cast.day(), cast.country)),
    "few": lambda cast: str(cast.random.randint(1, cast.random.choice((9, 40, 999)))),
    "given": lambda cast: cast.person().given,
    "iban": lambda cast: identifiers.in_groups(identifiers.iban(cast.random, cast.country)),
    "item": _item,
    "job": lambda cast: cast.random.choice(_JOBS[cast.language]),
    "longdate": lambda cast: cast.long_date(cast.day()),
    "mail": lambda cast: cast.company("shop").mail,
    "month": _month,
    "n": _number,
    "nif": lambda cast: cast.person().tax_id,
    "pct": lambda cast: cast.random.choice(
        ("21 %", "10%", "4,00 %", "20%", "8.25%", "21,00%", "12,5 %", "6%")
    ),
    "person": lambda cast: cast.person().name if cast.random.random() < 0.7 else cast.person().name.upper(),
    "phone": lambda cast: cast.company("shop").phone,
    "shortdate": lambda cast: cast.day().strftime(
        cast.random.choice(("%d/%m", "%d/%m/%Y", "%d-%m-%y", "%d %b"))
    ),
    "street": lambda cast: cast.address().street,
    "surname": lambda cast: cast.person().surnames.upper(),
    "time": lambda cast: f"{cast.random.randint(8, 22)}:{cast.random.randint(0, 59):02d}",
    "year": lambda cast: str(cast.random.randint(2012, 2026)),
}
