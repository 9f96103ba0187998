"""What tells whose paper it is: tax numbers, the address below, sites and logos."""

from __future__ import annotations

import re
from collections.abc import Sequence

from docproc.apps.documents.understanding.extract.blocks import POSTCODE, TAX_ID
from docproc.apps.documents.understanding.extract.layout import Document, Line, Stretch
from docproc.apps.documents.understanding.extract.names.appearance import ADDRESS, LEGAL_FORM, NOT_A_NAME
from docproc.reading.folding import fold

TOP_LINES = 9
REGISTRY = re.compile(
    r"(?<![a-z])(?:registro mercantil|reg\.? merc|r\.m\.|inscrit[ao]|tomo|folio|registered (?:in|office))"
)
_COMPANY_OR_PERSON = re.compile(
    r"(?<![a-z0-9])(?:(?P<company>[a-hjnp-suvw][-. ]?\d{2}\.?\d{3}\.?\d{2}[-. ]?[0-9a-j])"
    r"|(?:[xyz][-. ]?\d{7}|\d{2}\.?\d{3}\.?\d{3})[-. ]?[a-z]"
    r"|\d{3}-\d{2}-\d{4}|[a-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[a-d])(?![a-z0-9])"
)


def whose_number(column: Stretch, document: Document) -> float:
    """1 where the first tax id under a name is a company's, -1 where it is a person's, 0 without one."""
    for line in document.lines[column.line : column.line + 6]:
        for cell in line.columns():
            if line.page != column.page or abs(cell.box[0] - column.box[0]) > 0.02:
                continue
            if label := _COMPANY_OR_PERSON.search(fold(cell.text)):
                return 1.0 if label["company"] else -1.0
    return 0.0


def owns_number(column: Stretch, line: Line, document: Document) -> float:
    """1 where a tax id follows on the line, as in the small print; a half where one stands under it."""
    if column.line >= TOP_LINES and (
        TAX_ID.search(line.folded, column.start) or REGISTRY.search(line.folded, column.start)
    ):
        return 1.0
    below = document.lines[column.line + 1 : column.line + 5]
    return 0.5 * any(
        TAX_ID.search(fold(cell.text)) and abs(cell.box[0] - column.box[0]) < 0.02
        for other in below
        for cell in other.columns()
    )


def address_below(column: Stretch, document: Document) -> float:
    """Whether a street, a town or a registration follows on the next lines."""
    later = " ".join(line.folded for line in document.lines[column.line + 1 : column.line + 4])
    return 0.5 * bool(ADDRESS.search(later)) + 0.5 * bool(POSTCODE.search(later))


def sites(text: str) -> set[str]:
    """The names of the sites and mail servers that the text mentions, but those of everybody."""
    domains = re.findall(r"(?:@|www\.)([a-z0-9-]{4,})\.", fold(text))
    return {domain.replace("-", "") for domain in domains} - {"gmail", "hotmail", "yahoo", "outlook"}


def logos(lines: Sequence[Line]) -> set[str]:
    """Words that stand alone at the top, as a logo does."""
    cells = [fold(cell.text) for line in lines for cell in line.columns()]
    return {cell for cell in cells if re.fullmatch(r"[a-z]{4,}", cell) and not NOT_A_NAME.search(cell)}


def is_of_brand(name: str, brands: set[str]) -> bool:
    """The company whose logo it is: the word is part of its longer name."""
    words = fold(name).split()
    return len(words) > 1 and bool(LEGAL_FORM.search(fold(name))) and not brands.isdisjoint(words[:-1])
