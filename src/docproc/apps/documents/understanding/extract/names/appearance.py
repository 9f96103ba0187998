"""What a text looks like as a name, by its words alone."""

from __future__ import annotations

import re

from docproc.apps.documents.understanding.words import read_words
from docproc.reading.folding import fold

LEGAL_FORM = re.compile(
    r"(?:,?\s?(?<![a-z])(?:s\.? ?a\.? ?r\.? ?l\.?|s\.? ?l\.?(?: ?u\.?| ?p\.?| ?l\.?)?"
    r"|s\.? ?a\.?(?: ?u\.?| ?t\.?)?"
    r"|s\.? ?r\.? ?l\.?|b\.v\.?|bv|s\.p\.a\.?|s\.c\.(?:a\.|c\.l\.|p\.)?"
    r"|s\.? ?coop\.?(?: and\.?| v\.?)?|c\.? ?b\.?"
    r"|sociedad limitada|sociedad anonima|sdn\.? ?bhd\.?|bhd\.?|ltd\.?|limited|llc\.?|llp|inc\.?|corp\.?"
    r"|corporation|plc|gmbh|ag|sarl|sas|s\.a\.s\.?|lda\.?"
    r"|enterprise|trading|pte\.? ltd\.?|co\.)(?![a-z]))"
)
ADDRESS = re.compile(
    r"(?<![a-z])(?:(?:calle|plaza|camino)(?!\s*$)|c/|avda?|avenida|paseo|ronda|travesia|carrer|carretera"
    r"|poligono|urb"
    r"|jalan|jln|lot|no\.?\s?\d|street|st\.?,?$|road"
    r"|rd|avenue|ave|drive|lane|blvd|taman|tel|telf|telefono|phone|fax|www|http|email|mail|p\.?o\.? box"
    r"|suite|floor|level|gst|reg|roc|cp|nif|cif"
    r"|\d{5})(?![a-z])|@|\.(?:com|es|net|org|example)(?![a-z])"
)
NOT_A_NAME = re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, read_words('not_names')))})(?![a-z])")
SMALL_WORDS = frozenset(("de", "del", "la", "el", "los", "las", "y", "e", "i", "and", "of", "the"))


def merit(text: str) -> float:
    """What a text is worth as a name, by its looks."""
    folded = _unspaced(fold(text))
    letters = sum(map(str.isalpha, folded))
    if letters < 3 or re.fullmatch(r"(?:d|sr)\.?/[a-z.]+", folded):  # `D./Dña.` heads a name
        return -5.0
    score = 0.0
    score += 1.0 if LEGAL_FORM.search(folded) else 0.0
    score -= 1.6 if ADDRESS.search(folded) else 0.0
    score -= 2.5 if NOT_A_NAME.search(folded) else 0.0
    score -= 2.0 * sum(map(str.isdigit, folded)) / len(folded) + 0.3 * any(map(str.isdigit, folded))
    score -= 1.0 * (len(folded.split()) > 8) + 0.8 * text.rstrip().endswith((":", "?"))
    score -= 1.5 * bool(re.search(r"[a-z]{3}\.?: ?[a-z0-9]", folded))  # a label and its value
    return score


def traits(text: str) -> dict[str, float]:
    """The same as numbers, for the scorer."""
    folded = fold(text)
    letters = [char for char in text if char.isalpha()]
    return {
        "legal": float(bool(LEGAL_FORM.search(folded))), "address": float(bool(ADDRESS.search(folded))),
        "not_name": float(bool(NOT_A_NAME.search(folded))), "words": min(len(folded.split()), 10) / 10,
        "caps": sum(map(str.isupper, letters)) / max(len(letters), 1),
        "digits": sum(map(str.isdigit, folded)) / max(len(folded), 1),
    }  # fmt: skip


def _unspaced(folded: str) -> str:
    """`f a c t u r a` → `factura`."""
    return folded.replace(" ", "") if re.fullmatch(r"(?:[a-z] ){3,}[a-z]", folded) else folded


def is_person(text: str) -> bool:
    return merit(text) >= 0 and not any(map(str.isdigit, text)) and ":" not in text


def full_name(text: str) -> bool:
    words = [word for word in text.split() if fold(word) not in SMALL_WORDS]
    return 3 <= len(words) <= 5 and all(word.isalpha() and word[0].isupper() for word in words)


def repeats(name: str, rest: str) -> bool:
    """`Todo Hogar` over `Todo Hogar, S.L.`: a sign and the company behind it, not one name in two lines."""
    words = set(re.findall(r"\w+", name)) - SMALL_WORDS
    return bool(words & set(re.findall(r"\w{3,}", rest)))
