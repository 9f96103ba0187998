"""What a page says of itself and its document: its number, identifiers, letterhead, how it begins, ends."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import Any

from stdnum.es import nif

from docproc.apps.documents.understanding import page_evidence
from docproc.apps.documents.understanding.tax_ids import TAX_ID, compact
from docproc.apps.documents.understanding.words import read_words
from docproc.reading.folding import fold
from docproc.reading.page import PageText

# "Página 1 de 2", "page 1/2", "hoja 1 de 3"; a new line may stand between the word and the numbers.
_NUMBERED = re.compile(
    r"\b(?:pagina|pag|pg|page|hoja|sheet|full|orria|folha|folio)\b\.?:?\s{0,3}"
    r"(\d{1,3})\s?(?:de|of|/|sur|out of)\s?(\d{1,3})\b"
)
# Alone on a line at the edge.
_BARE_NUMBERED = re.compile(r"^\W{0,2}(\d{1,2}) ?(?:/|de|of) ?(\d{1,2})\W{0,2}$")
_ONLY_NUMBER = re.compile(r"\b(?:pagina|pag|pg|page|hoja|sheet)\b\.?:? ?(\d{1,3})$|^\W{0,2}(\d{1,2})\W{0,2}$")
_ITS_NUMBER = r"\s?[:#]?\s?((?=[a-z/.-]{0,8}\d)[a-z0-9][a-z0-9/.-]{2,24})"
_NUMBER = re.compile(
    rf"\b(?:n[.ºo°]{{0,2}}|num(?:ero)?\.?|no\.?)\s?(?:de\s)?(?:factura|invoice){_ITS_NUMBER}"
    rf"|\b(?:factura|invoice|facture)\s?(?:n[.ºo°]{{1,2}}|num(?:ero)?\.?|no\.?|number|#){_ITS_NUMBER}"
)
_IN_ZONE = re.compile(r"(?:\d{8}|[xyz]\d{7})[a-z](?=<)")
_FORM = re.compile(
    r"\b(?:form|modelo|formulario|impreso) ?[:#]? ?(\d{2,4}(?:-[a-z0-9]{1,4})?)\b"
    r"|\bschedule ([a-z]{1,2}\d?)\b|\b(1099-[a-z]{1,4}|w-\d[a-z]?)\b"
)
_IDENTIFIER = re.compile(r"^[a-z]{0,5}[-/.]?[0-9][a-z0-9/.-]{4,24}$")
_ACCOUNT = re.compile(r"\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){4,6}(?: ?[a-z0-9]{1,3})?\b")
_AMOUNT = re.compile(r"^[-+]?\d{1,3}(?:[.,]?\d{3})*[.,]\d{2}$")
_DATE = re.compile(r"\b\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}\b")


def _any_of(phrases: Iterable[str], end: str = r"\b") -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, phrases))}){end}")


_PHRASES: dict[str, list[str]] = read_words("page_marks")
_OPENING, _CLOSING, _GOES_ON = (_any_of(_PHRASES[name]) for name in ("opens", "closes", "goes_on"))
_CAME_ON = _any_of(_PHRASES["came_on"], end="")  # longer words that begin so mean the same
_LATER_CLAUSE = re.compile(
    r"\W*(?:clausula )?(?:segund|tercer|cuart|quint|sext|septim|octav|noven|decim|undecim|duodecim)[ao]\w*"
    r"|\W*(?:[2-9]|[1-9]\d)\.(?:\d|[ -])"
)
_EDGE_LINES = 3  # at the top and bottom: where pages are numbered
_HEAD_LINES, _HEAD_WORDS = 5, 16
_FOOT_LINES, _FOOT_WORDS = 2, 12
_CARRIED_LINES = 12  # at the head and the foot: where running sums stand
_IDENTIFIERS = 14
_LOOK_ALIKE = str.maketrans(
    "oilsbz", "011582"
)  # what OCR confuses: the same number on two pages is read alike
_DATES = 6
_SKETCH = 24
_SHORT = 35  # words: the rest of a document, not a beginning


def marks(page: PageText) -> dict[str, Any]:
    """What a page says of itself, as it is stored; what it does not say is left out.

    `page`, `of`: its number; `number`: an invoice's; `tax_ids`, `ids`, `dates`, `account` (in its upper
    half), `form`, `sum` (its largest amount): what identifies the document; `head`, `foot`: words at the top
    and bottom; `sketch`: a small fingerprint of all its words;
    `title`, `opens`, `closes`, `goes_on`, `came_on`, `midway`, `short`, `zone`: signs of beginning or end;
    `carried_to`, `carried_from`: the running sum at the foot or the head, as in `suma y sigue`;
    `shape`: its proportions.
    """
    if not any(sign.isalnum() for word in page.words for sign in word.text):
        return {"blank": True}
    lines = [fold(" ".join(word.text for word in line)) for line in page.lines]
    plain = "\n".join(lines)
    result: dict[str, Any] = {"shape": round(page.height / max(page.width, 1e-6), 2)}
    result |= _numbering(lines, plain)
    result |= _identity(plain)
    result |= _carried(lines)
    result["head"] = _words(" ".join(lines[:_HEAD_LINES]), _HEAD_WORDS)
    result["foot"] = _words(" ".join(lines[-_FOOT_LINES:]), _FOOT_WORDS)
    result["sketch"] = sketch(plain)
    if account := _ACCOUNT.search("\n".join(lines[: len(lines) // 2])):
        result["account"] = re.sub(r"\s", "", account[0]).translate(_LOOK_ALIKE)
    if form := _FORM.search("\n".join((*lines[:_HEAD_LINES], *lines[-_FOOT_LINES:]))):
        result["form"] = form[1] or form[2] or form[3]
    body = next((line for line in page.lines if len(line) >= 4), page.lines[0])
    signs = {
        # More than a label in a line of other things, such as `Contrato: 5521`.
        "title": max(page_evidence.titles(page.text).values()) > 3.0,
        "opens": any(_opens(match) for match in _OPENING.finditer(plain[:1500])),
        "closes": _CLOSING.search(plain[len(plain) // 3 :]) is not None,
        "goes_on": _GOES_ON.search("\n".join(lines[-4:])) is not None,
        "came_on": _CAME_ON.search("\n".join(lines[:6])) is not None,
        "midway": body[0].text[:1].islower() or _LATER_CLAUSE.match(plain) is not None,
        "short": len(page.words) < _SHORT,
        "zone": "<<" in plain,
    }
    return result | {name: True for name, is_so in signs.items() if is_so}


def _opens(match: re.Match[str]) -> bool:
    """Whom a letter is to stands at the beginning of a line: a reading may be `estimada`, too."""
    before = match.string[: match.start()].rpartition("\n")[2]
    return not before.strip() or not match[0].startswith("estimad")


def _numbering(lines: list[str], plain: str) -> dict[str, int]:
    edges = [line.strip() for line in (*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:])]
    bare = next((match for line in edges if (match := _BARE_NUMBERED.match(line))), None)
    if numbered := _NUMBERED.search(plain) or bare:
        number, of = int(numbered[1]), int(numbered[2])
        if 1 <= number <= of:
            return {"page": number, "of": of}
    for line in edges:
        if alone := _ONLY_NUMBER.search(line):
            number = int(alone[1] or alone[2])
            return {"page": number} if 1 <= number <= 60 else {}
    return {}


def _carried(lines: list[str]) -> dict[str, str]:
    """The amount beside `suma y sigue` at the foot, beside `suma anterior` at the head of a page."""
    places = (
        ("carried_to", _GOES_ON, lines[-_CARRIED_LINES:]),
        ("carried_from", _CAME_ON, lines[:_CARRIED_LINES]),
    )
    found: dict[str, str] = {}
    for name, phrase, part in places:
        for line in part:
            amounts = [token for token in line.split() if _AMOUNT.match(token.strip("€$£-+"))]
            if amounts and phrase.search(line):
                found[name] = str(_size(amounts[-1]))
    return found


def _identity(plain: str) -> dict[str, Any]:
    identity: dict[str, Any] = {}
    if number := _NUMBER.search(plain):
        identity["number"] = (number[1] or number[2]).rstrip(".-/").translate(_LOOK_ALIKE)
    tax_ids = {compact(match) for match in TAX_ID.findall(plain)}
    if "<<" in plain:  # the zone on the back of a card holds the number on its front
        tax_ids |= set(_IN_ZONE.findall(plain))
    if valid := sorted(tax_id for tax_id in tax_ids if nif.is_valid(tax_id.upper())):
        identity["tax_ids"] = valid
    if dates := list(dict.fromkeys(_DATE.findall(plain))):
        identity["dates"] = dates[:_DATES]
    if ids := _identifiers(plain):
        identity["ids"] = ids
    if amounts := [token for token in plain.split() if _AMOUNT.match(token.strip("€$£-+"))]:
        identity["sum"] = max(amounts, key=_size)
    return identity


def _identifiers(plain: str) -> list[str]:
    """Numbers of customers, contracts, accounts, employees: whatever looks like one, as it comes."""
    accounts = [re.sub(r"\s", "", account) for account in _ACCOUNT.findall(plain)]
    tokens = dict.fromkeys(token.strip(".,:;()#*") for token in plain.split())
    kept = [t for t in tokens if _IDENTIFIER.match(t) and not _AMOUNT.match(t) and not _DATE.fullmatch(t)]
    return (
        accounts[:2] + [token for token in kept if sum(sign.isdigit() for sign in token) >= 4][:_IDENTIFIERS]
    )


def _size(amount: str) -> int:
    return int("".join(sign for sign in amount if sign.isdigit()))


def _words(text: str, count: int) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[a-z]{3,}", text)))[:count]


def sketch(plain: str) -> list[int]:
    """The smallest hashes of the page's words: two pages share as many of them as they share words."""
    return sorted({zlib.crc32(word.encode()) >> 8 for word in re.findall(r"[a-z]{4,}", plain)})[:_SKETCH]
