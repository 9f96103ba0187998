"""Documents in a row, to learn where one ends: long ones cut into pages, twins that differ in digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

from docproc.apps.documents.quality.fitting import noise
from docproc.apps.documents.understanding.page_pairs import ONE_PAGE
from docproc.reading.page import PageText
from docproc.reading.plain_text import page_of
from docproc_samples.drawing import layouts
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.layout import Choice
from docproc_samples.training import made_up, recipes
from docproc_samples.training.drawn import document

_IDENTIFYING = re.compile(
    r"(?i)n[ºo°]|num|factura|invoice|contrat|account|iban|nif|cif|ref|periodo|date|fecha"
)
_OF_THE_SENDER = re.compile(r"(?i)\b(?:c\.?i\.?f|n\.?i\.?f|vat|tel|iban|registro mercantil)\b")

_PLAIN_SHARE = 0.35  # of the documents that may have them: pages at the end that say nothing of their type

Pages = list[PageText]
Packet = list[tuple[str, Pages]]

_NUMBERINGS = (
    "Página {i} de {n}",
    "Pág. {i}/{n}",
    "{i}/{n}",
    "Page {i} of {n}",
    "Hoja {i} de {n}",
    "Página {i}",
    "- {i} -",
    "{i}",
)
_CARRIED = (
    ("Suma y sigue", "Suma anterior"),
    ("Continúa", "Continuación"),
    ("Continued", "Continued from previous page"),
)


def packets(work: Path, count: int, choice: Choice, random: Random) -> Iterator[Packet]:
    """Each of some documents, often of one type in a row, now and then from the same sender."""
    for _ in range(count):
        packet: Packet = []
        kind = random.choice(list(made_up.POOLS))
        for _ in range(random.randint(2, 6)):
            kind = kind if random.random() < 0.6 else random.choice(list(made_up.POOLS))
            packet.extend((kind, pages) for pages in _documents(work, kind, choice, random))
        spoil = random.random() < 0.5
        yield [
            (kind, [noise.spoiled(p, random) if spoil else p for p in _copied(pages, random)])
            for kind, pages in packet
        ]


def _copied(pages: Pages, random: Random) -> Pages:
    """The pages with one of them, now and then, repeated: people scan a page together with its copy."""
    return [pages[0], *pages] if random.random() < 0.04 else pages


def _documents(work: Path, kind: str, choice: Choice, random: Random) -> list[Pages]:
    language = random.choice(("es", "en"))
    drawn = layouts.of(kind, language, choice)
    if drawn and (choice == "held_out" or random.random() < 0.4):
        layout = random.choice(drawn)
        cast = Cast(random, language)
        first = document(work, layout, cast)
        twin = random.random() < 0.4
        return [first, document(work, layout, cast)] if twin else [first]
    pool = [recipe for recipe in made_up.POOLS[kind] if recipe not in made_up.CONTINUED]
    lines = made_up.text(random.choice(pool), random, rows=1 if kind in ONE_PAGE else 3).split("\n")
    made = [_cut(lines, kind, random)]
    if random.random() < 0.5:  # the same sender again: other numbers, dates and amounts
        made.append(_cut([_other_digits(line, random) for line in lines], kind, random))
    return made


def _other_digits(line: str, random: Random) -> str:
    if _OF_THE_SENDER.search(line):
        return line
    return re.sub(r"\d", lambda digit: str(random.randint(0, 9)) if random.random() < 0.7 else digit[0], line)


def _plain(kind: str, random: Random) -> list[str]:
    """A later page without a word of what it belongs to."""
    return made_up.text(random.choice(recipes.LATER[kind]), random).split("\n")


def _head(lines: list[str], random: Random) -> list[str]:
    """What is printed on every page: the sender, often the document's number, now and then more."""
    known = [line for line in lines[1:9] if _IDENTIFYING.search(line)]
    return [*lines[: random.randint(1, 2)], *(line for line in known if random.random() < 0.6)]


def _cut(lines: list[str], kind: str, random: Random) -> Pages:
    """Lines cut into pages; at random with a repeated head, page numbers and a sum carried forward."""
    most = 1 if kind in ONE_PAGE else max(1, min(4, len(lines) // 8))
    count = random.randint(1, most)
    if kind in ("invoice", "other") and random.random() < 0.4:
        count = 1
    head = _head(lines, random) if random.random() < 0.65 else []
    numbering = random.choice(_NUMBERINGS) if random.random() < 0.5 else None
    first = random.choice((0, 0, 1))  # often the first page has no number
    carried = random.choice(_CARRIED) if random.random() < 0.2 else None
    size = -(-len(lines) // count)
    parts = [lines[number * size : (number + 1) * size] for number in range(count)]
    if kind in recipes.LATER and random.random() < _PLAIN_SHARE:
        parts += [_plain(kind, random) for _ in range(random.randint(1, 2))]
        count = len(parts)
    pages = []
    for number, part in enumerate(parts):
        if number:
            part = [*head, *([carried[1]] if carried else []), *part]
        if carried and number + 1 < count:
            part = [*part, carried[0]]
        if numbering and number >= first and (count > 1 or random.random() < 0.5):
            said = numbering.format(i=number + 1, n=count)
            part = [said, *part] if random.random() < 0.3 else [*part, said]
        pages.append(page_of("\n".join(part or ["."])))
    return pages
