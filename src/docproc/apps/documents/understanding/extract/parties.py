"""The two parties of a contract, as its opening sentence names them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import Document, Line, Stretch
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.reading.folding import fold
from docproc.reading.page import union

_HONORIFIC = (
    r"(?:(?:d\.\s?/\s?d(?:na|a|\.a)?\.?|d\.\s?a\.?|d\.|dna\.|da\.|sr\.|sra\.|mr\.|mrs\.|ms\.)\s*"
    r"|(?:d|dna|da|don/dona|don|dona|sr|sra|mr|mrs|ms|el senor|la senora"
    r"|la (?:mercantil|sociedad|entidad|empresa|compania)(?: mercantil)?)\s+)?"
)
_TAX_ID = r"(?:d\.? ?n\.? ?i|n\.? ?i\.? ?f|n\.? ?i\.? ?e|c\.? ?i\.? ?f)"
_END = (
    rf"(?=,?\s?\(|;|(?:,\s?|\s)(?:con ?(?:el )?(?:numero ?de )?(?:{_TAX_ID}"
    r"|domicilio|sede|pasaporte|codigo|numero)"
    r"|mayor(?:es)? ?de ?edad|provist"
    r"|en ?adelante|en ?nombre|de ?nacionalidad|vecin"
    r"|representad|domiciliad|identificad|titular|actuando|quien|cuyo|inscrita|constituida|sociedad inscrita"
    r"|y ?(?:con )?(?:domicilio|nif|cif|dni)|en ?(?:su )?(?:calidad|condicion)|cuya"
    r"|of|with (?:its|registered|company"
    r"|passport|an?|tax|id)|a (?:company|corporation|limited)"
    r"|an? [a-z]+ (?:company|corporation|limited)|whose|having|located|residing|resident|holder"
    r"|hereinafter|hereafter|company number|registered|incorporated|of legal age"
    r"|tax id|nif|dni|cif|nie|vat)\b)"
)
_NAME = rf"{_HONORIFIC}(?P<name>[a-z0-9&'\"“”«».,\s-]{{3,80}}?){_END}"
_FIRST = re.compile(
    rf"(?:\b(?:de ?)?(?:la )?una ?parte[,:]?\s?(?:y? ?como (?:parte )?[a-z /()]{{4,34}}[,:]\s)?"
    rf"|\bbetween[:,]?\s(?:\(?1\)?\.?\s)?"
    rf"|\(1\)\s|\bby and between\s){_NAME}"
)
_SECOND = re.compile(
    rf"(?:\bde ?(?:la )?otra(?: ?parte)?[,:]?\s?(?:y? ?como (?:parte )?[a-z /()]{{4,34}}[,:]\s)?|\(2\)\s"
    rf"|\band[:,]?\s(?:\(?2\)?\.?\s)?){_NAME}"
)
# Whoever signs for a company is not the party: the company is.
_REPRESENTED = re.compile(
    r"\ben (?:el )?(?:nombre|representacion)(?: (?:y|e|o|y en) (?:nombre|representacion))?(?: legal)?,?"
    rf"(?: como [a-z ]{{4,40}},?)? (?:de |del ){_NAME}"
    r"|\ben (?:su )?(?:calidad|condicion) de (?:[a-z]+ ){1,4}?(?:de|del) "
    rf"{_NAME.replace('name', 'office')}"
    rf"|\b(?:on|for and on) behalf of {_NAME.replace('name', 'behalf')}"
)
_OPENING = re.compile(r"\b(?:reunidos|comparecen|intervienen|the parties|parties)\b")
_CLOSING = re.compile(
    r"\b(?:exponen|manifiestan|clausulas|estipulaciones|pactos|acuerdan|whereas|background|terms)\b"
)
_TITLE = (
    r"(?:d\.\s?/\s?d(?:na|a|\.a)?\.?|d\.\s?a\.?|d\.|dna\.?|da\.?|don|dona"
    r"|la (?:mercantil|sociedad|entidad|empresa|compania))\s"
)
_ANYBODY = re.compile(
    rf"(?:(?<=[.;:)»])|(?<=reunidos)|(?<=comparecen)|(?<=intervienen))\s(?={_TITLE}){_NAME}"
)
_SURE = 5.0
_QUOTES = ' ,"“”«»'
_IS_LABEL = re.compile(rf"{_TAX_ID}\b.{{0,12}}|en (?:concepto|calidad) de.*|fecha .*|domicilio.*|cargo")
_LONGEST = 600  # characters in which a party is introduced

# --- forms: a heading for each side, and under it a line for the name
_OF_THE = r"(?:\d\W{0,2})?(?:datos )?(?:de )?(?:la |el |del |the |del/de la )?(?:parte )?"
_SIDES = {
    "party_a": re.compile(
        rf"{_OF_THE}(?:empresa|empleadora?|employer|arrendadora?|vendedora?|landlord|seller|prestadora?"
        r"|proveedora?|supplier|contratista)(?:/a)?\W*"
    ),
    "party_b": re.compile(
        rf"{_OF_THE}(?:persona trabajadora|trabajadora?|employee|arrendatari[oa]|compradora?|inquilin[oa]"
        r"|tenant|buyer|cliente|client|customer)(?:/a)?\W*"
    ),
}
_COMPANY = re.compile(
    r"(?:nombre o )?razon social(?: de la empresa)?|denominacion(?: social)?|company(?: name)?"
    r"|(?:nombre (?:de la )?)?empresa"
)
_SOMEBODY = re.compile(
    r"d\W{0,2}/\s?d(?:na|a|\.a)?\W?|d\.|don/dona|nombre(?: y apellidos)?|apellidos y nombre|(?:full )?name"
)


def parties(document: Document) -> dict[str, list[Scored]]:
    by_side = _forms(document)
    text = " ".join(line.text for line in document.lines)
    for name, match in zip(by_side, _introduced(fold(text)), strict=False):
        if match is not None:
            by_side[name].append(_scored(document, text, match, _SURE))
    return by_side


def _introduced(folded: str) -> list[tuple[int, int] | None]:
    """Where the names of both parties stand in the running text, each the company that a person acts for."""
    first = _FIRST.search(folded)
    second = _SECOND.search(folded, first.end() if first else 0)
    if first is None:
        opening = _OPENING.search(folded)
        closing = _CLOSING.search(folded, opening.end()) if opening else None
        window = folded[: closing.start()] if closing else folded
        people = [*_ANYBODY.finditer(window, max(opening.start() - 1, 0))] if opening else []
        first, second = (people[0], people[1]) if len(people) > 1 else (None, None)
    if first is None:
        return []
    end = second.start() if second else len(folded)
    return [_acting_for(folded, first, end), _acting_for(folded, second, len(folded)) if second else None]


def _acting_for(folded: str, match: re.Match[str], end: int) -> tuple[int, int]:
    company = _REPRESENTED.search(folded, match.end(), min(end, match.end() + _LONGEST))
    if company is None:
        return match.span("name")
    return company.span(next(name for name in ("name", "office", "behalf") if company[name]))


def _forms(document: Document) -> dict[str, list[Scored]]:
    by_side: dict[str, list[Scored]] = {"party_a": [], "party_b": []}
    side = None
    for line in document.lines:
        label, *values = line.columns()
        written = fold(label.text).strip()
        heading = next((name for name, pattern in _SIDES.items() if pattern.fullmatch(written)), None)
        if heading and not values:
            side = heading
        elif side and _CLOSING.search(written):
            side = None
        elif side:
            by_side[side] += [
                Scored(Candidate(at.text.strip(" ,:"), at), worth) for at, worth in _filled(document, line)
            ]
    return by_side


def _filled(document: Document, line: Line) -> Iterator[tuple[Stretch, float]]:
    """What a form has under its labels, or right of the first where no other label stands there."""
    cells = line.columns()
    for index, cell in enumerate(cells):
        worth = _named_by(fold(cell.text).strip(" :."))
        beside = cells[index + 1] if index + 1 < len(cells) else None
        if not worth:
            continue
        if beside is not None and index == 0 and not _IS_LABEL.fullmatch(fold(beside.text).strip(" :.")):
            yield beside, worth
        elif (below := _under(document, cell)) is not None:
            yield below, worth


def _under(document: Document, cell: Stretch) -> Stretch | None:
    following = document.lines[cell.line + 1 : cell.line + 2]
    return next(
        (
            other
            for line in following
            for other in line.columns()
            if line.page == cell.page and abs(other.box[0] - cell.box[0]) < 0.02
        ),
        None,
    )


def _named_by(label: str) -> float:
    """A company's name outweighs that of the person who signs for it."""
    if _COMPANY.fullmatch(label):
        return _SURE + 0.5
    return _SURE - 1.0 if _SOMEBODY.fullmatch(label) else 0.0


def _scored(document: Document, text: str, span: tuple[int, int], score: float) -> Scored:
    start, end = span
    value = text[start:end].strip(_QUOTES)
    start += len(text[start:end]) - len(text[start:end].lstrip(_QUOTES))
    return Scored(Candidate(value, _stretch(document, start, start + len(value), value)), score)


def _stretch(document: Document, start: int, end: int, value: str) -> Stretch:
    """The place of a part of the running text, over as many lines as it takes."""
    at, parts = 0, []
    for line in document.lines:
        if at < end and at + len(line.text) > start:
            parts.append(line.stretch(max(start - at, 0), min(end - at, len(line.text))))
        at += len(line.text) + 1
    page = parts[0].page
    box = union([part.box for part in parts if part.page == page])
    confidence = min(part.confidence for part in parts)
    return Stretch(value, box, confidence, page, parts[0].line, parts[0].start, parts[0].end)
