"""Names of companies and people: what stands beside a label, and what a letterhead says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import median

from docproc.apps.documents.understanding.extract.blocks import POSTCODE, STREET, TAX_ID, Block, blocks
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.hits import BELOW, RIGHT, Hit, aligned
from docproc.apps.documents.understanding.extract.layout import WIDE, Document, Line, Stretch
from docproc.apps.documents.understanding.extract.score import Scored
from docproc.apps.documents.understanding.extract.spelling import repaired
from docproc.reading.folding import fold
from docproc.reading.page import Source, union

LEGAL_FORM = re.compile(
    r"(?:,?\s?(?<![a-z])(?:s\.? ?a\.? ?r\.? ?l\.?|s\.? ?l\.?(?: ?u\.?| ?p\.?| ?l\.?)?"
    r"|s\.? ?a\.?(?: ?u\.?| ?t\.?)?"
    r"|s\.? ?r\.? ?l\.?|b\.v\.?|bv|s\.p\.a\.?|s\.c\.(?:a\.|c\.l\.|p\.)?"
    r"|s\.? ?coop\.?(?: and\.?| v\.?)?|c\.? ?b\.?"
    r"|sociedad limitada|sociedad anonima|sdn\.? ?bhd\.?|bhd\.?|ltd\.?|limited|llc\.?|llp|inc\.?|corp\.?"
    r"|corporation|plc|gmbh|ag|sarl|sas|s\.a\.s\.?|lda\.?"
    r"|enterprise|trading|pte\.? ltd\.?|co\.)(?![a-z]))"
)
_ADDRESS = re.compile(
    r"(?<![a-z])(?:(?:calle|plaza|camino)(?!\s*$)|c/|avda?|avenida|paseo|ronda|travesia|carrer|carretera"
    r"|poligono|urb"
    r"|jalan|jln|lot|no\.?\s?\d|street|st\.?,?$|road"
    r"|rd|avenue|ave|drive|lane|blvd|taman|tel|telf|telefono|phone|fax|www|http|email|mail|p\.?o\.? box"
    r"|suite|floor|level|gst|reg|roc|cp|nif|cif"
    r"|\d{5})(?![a-z])|@|\.(?:com|es|net|org|example)(?![a-z])"
)
_NOT_A_NAME = re.compile(
    r"(?<![a-z])(?:invoice|factura|facture|receipt|recibo|ticket|tax invoice|date|fecha|page|pagina|total"
    r"|nomina|payslip|pay stub|statement|simplificada|original"
    r"|copia|copy|duplicado|welcome|bienvenid[oa]s?|thank|gracias|cash bill|bill|numero|number|albaran"
    r"|presupuesto|earnings|payroll|cliente|customer"
    r"|salarios|justificativo|advice|confidential|period|periodo|cashier|payment|pago|datos|document"
    r"|documento|employee|check|deducciones|devengos"
    r"|invoice no|order|pedido|table|vat|iva|description|descripcion"
    r"|pay ?slip|pay advice|earnings statement|remittance"
    r"|dni|nie|nif|cif|nombre|name|importe|amount|paid|pagado)(?![a-z])"
)
_HONORIFIC = re.compile(
    r"^(?:d\.ª|d\.a|d\.|da\.?|d[ªa]|don|dona|sr\.?|sra\.?|mr\.?|mrs\.?|ms\.?|mme|d\./da\.?)\s+", re.IGNORECASE
)
_GOES_ON = re.compile(r"(?:enterprise|trading|sdn|bhd|ltd|limited|s\.?l\.?u?|s\.?a\.?|inc|llc)(?![a-z])")
# A company's number after its name: `(123456-X)`, `(123456 X)`, `Co. Reg. No. …`, `123456-X (KL)`.
_REGISTERED = re.compile(
    r"\s*\(?(?:co\.? ?(?:reg|no)\.?[^)]*|company no\.?[^)]*|[0-9A-Z]{5,}-[A-Z])\)?\s*$"
    r"|\s*\(\s?\d{4,9}\s?[-–.·]?\s?[A-Z]{0,2}\s?\)?\s*$|\s+\(?\d{5,7}\s?[-·.]\s?[A-Z]\)?(?:\s.*)?$",
    re.IGNORECASE,
)
_TRADE_NAME = re.compile(r"(?<=\w{3})\s*\((?=\D*$)[^()]{4,}\)\s*$")  # `María Pérez Gil (Bar Tere)`
_GLYPHS = "◆◇■□●○▲△▼►▶★☆✦✓✔•·†♦♣♥♠❖"
_TITLED = re.compile(r"(?:lda|ldo|lcda|lcdo|dra|dr|farm|tit|titular)\b")
_STATE = re.compile(r"(?:gobierno|reino) de espana")
_TOP_LINES = 9
_BRAND_LINES = 4
_FOOT = 0.85
_REGISTRY = re.compile(
    r"(?<![a-z])(?:registro mercantil|reg\.? merc|r\.m\.|inscrit[ao]|tomo|folio|registered (?:in|office))"
)
_COMPANY_OR_PERSON = re.compile(
    r"(?<![a-z0-9])(?:(?P<company>[a-hjnp-suvw][-. ]?\d{2}\.?\d{3}\.?\d{2}[-. ]?[0-9a-j])"
    r"|(?:[xyz][-. ]?\d{7}|\d{2}\.?\d{3}\.?\d{3})[-. ]?[a-z]"
    r"|\d{3}-\d{2}-\d{4}|[a-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[a-d])(?![a-z0-9])"
)
_BEGAN_ABOVE = ("& ", "co. (", "and ")
# There is more on the next line.
_RUNS_ON = (
    "&",
    "-",
    ",",
    " y",
    " e",
    " i",
    " de",
    " del",
    " la",
    " las",
    " los",
    " para",
    " and",
    " of",
    " the",
)
_FORM_ONLY = re.compile(rf"(?:sucursal )?en espana|(?:{LEGAL_FORM.pattern})\W*")
_SMALL_WORDS = frozenset(("de", "del", "la", "el", "los", "las", "y", "e", "i", "and", "of", "the"))
_CODE_BEFORE = re.compile(r"[A-Z]?\d{2,}\s+[-–]?\s*(?=[^\W\d]{2})")
_BANK = re.compile(r"(?<![a-z])(?:banco|bank|caixa|caja|oficina|sucursal|branch)(?![a-z])")


def beside(
    hit: Hit, document: Document, hits: Sequence[Sequence[Hit]], lines_below: int = 3
) -> Iterator[tuple[Stretch, float]]:
    """The text a label points at, and what the place is worth: right of it, in the next column, or below."""
    line = document.lines[hit.at.line]
    right = _right(line, hit, hits[hit.at.line])
    if right is not None:
        yield right, RIGHT - (0.4 if WIDE in line.text[hit.at.end : right.start] else 0.0)
        if not any(map(str.isalpha, right.text)) and (column := _column_after(line, right)) is not None:
            yield column, RIGHT - 0.5  # a number, then the name
    given = 0
    for later in document.lines[line.index + 1 : line.index + 1 + lines_below]:
        if later.page != line.page or later.box[1] - line.box[3] > 4 * max(later.height, line.height):
            return
        for column in later.columns():
            if aligned(hit.at.box, column.box):
                if _is_label(column, hits) or any(
                    other.worth and other.at.start == column.start and stands_alone(other, document)
                    for other in hits[later.index]
                ):
                    return
                yield column, BELOW - 0.5 * given - (0.6 if right is not None else 0.0)
                given += 1
                if not any(map(str.isalpha, column.text)):
                    return  # a code or an amount is what the label heads: below it stands something else


def _column_after(line: Line, at: Stretch) -> Stretch | None:
    return next((column for column in line.columns() if column.start > at.end), None)


def _right(line: Line, hit: Hit, others: Sequence[Hit]) -> Stretch | None:
    rest = line.text[hit.at.end :]
    if rest.lstrip().startswith("/"):  # the label again in another language
        again = line.column_end(hit.at.end)
        rest, hit_end = line.text[again:], again
    else:
        hit_end = hit.at.end
    start = hit_end + len(rest) - len(rest.lstrip(" :.-#º°)/"))
    end = line.column_end(start)
    for other in others:
        if other.at.start >= start and (
            ":" in line.text[other.at.end : other.at.end + 3] or other.at.start == start
        ):
            end = min(end, other.at.start)
    text = line.text[start:end].rstrip(" :,;-|")
    return line.stretch(start, start + len(text)) if text else None


def cleaned(at: Stretch, document: Document, person: bool = True) -> Stretch | None:
    """The name alone: no honorific, nothing after a middle dot, no number of an identity or a register."""
    line = document.lines[at.line]
    text = re.split(r" [·|•] |\s{3}|\s\(?(?:NIF|CIF|DNI|N\.I\.F|C\.I\.F)\b", at.text)[0]
    start = at.start
    text = _REGISTERED.sub("", text)
    if person:
        text = _TRADE_NAME.sub("", text)
    if person and (honorific := _HONORIFIC.match(text)):
        start, text = start + honorific.end(), text[honorific.end() :]
    text = text.strip(" :;-_*|" + _GLYPHS)
    start = line.text.find(text, start)
    return line.stretch(start, start + len(text)) if text else None


def wrapped(at: Stretch, document: Document, told: bool = False) -> Stretch | None:
    """The name with the line it runs on to: it ends in a preposition or a comma, or its legal form is below.

    With `told`, where a label says that it is a name, also when the whole second half stands below.
    """
    below = _below(at, document)
    if below is None or not _completes(at.text, below.text, told):
        return None
    both = f"{at.text} {_REGISTERED.sub('', below.text)}"
    return Stretch(
        both, union([at.box, below.box]), min(at.confidence, below.confidence), at.page, at.line,
        at.start, at.end,
    )  # fmt: skip


def _completes(first: str, below: str, told: bool) -> bool:
    name, rest = fold(first).strip(), fold(below).strip()
    if not _could_go_on(rest) or merit(first) < -0.5 or _ADDRESS.search(name) or _repeats(name, rest):
        return False
    has_form = any(len(name) - form.end() < 3 for form in LEGAL_FORM.finditer(name))
    if _FORM_ONLY.fullmatch(rest):
        return not has_form or rest.endswith("espana")
    ends = any(len(rest) - form.end() < 3 for form in LEGAL_FORM.finditer(rest))
    if has_form or len(name.split()) < 2:
        return False
    return (name.endswith(_RUNS_ON) and (ends or not name.endswith(","))) or (told and ends)


def _could_go_on(rest: str) -> bool:
    return (
        not (_ADDRESS.search(rest) or STREET.search(rest) or POSTCODE.search(rest) or TAX_ID.search(rest))
        and not _NOT_A_NAME.search(rest)
        and ":" not in rest
        and len(rest.split()) <= 6
        and not any(map(str.isdigit, rest))
    )


def _repeats(name: str, rest: str) -> bool:
    """`Todo Hogar` over `Todo Hogar, S.L.`: a sign and the company behind it, not one name in two lines."""
    words = set(re.findall(r"\w+", name)) - _SMALL_WORDS
    return bool(words & set(re.findall(r"\w{3,}", rest)))


def _below(at: Stretch, document: Document, alike: bool = True) -> Stretch | None:
    """What stands close under a text, beginning where it or its cell begins; `alike`: in letters as large."""
    if at.line + 1 >= len(document.lines):
        return None
    cell = document.lines[at.line].stretch(*_cell(document, at)).box[0]
    height = at.box[3] - at.box[1]
    for later in document.lines[at.line + 1 : at.line + 3]:
        for below in later.columns():
            other = below.box[3] - below.box[1]
            if (
                later.page == at.page
                and min(abs(below.box[0] - cell), abs(below.box[0] - at.box[0])) < 0.012
                and (not alike or 0.6 < other / max(height, 1e-6) < 1.5)
                and -0.5 * height < below.box[1] - at.box[3] < 1.2 * height
            ):
                return below
    return None


def _runs_on_from_above(at: Stretch, document: Document) -> bool:
    """It is the second line of a name."""
    for line in document.lines[max(at.line - 2, 0) : at.line]:
        for cell in line.columns():
            below = _below(cell, document) if line.page == at.page else None
            if below is not None and below.line == at.line and below.start == at.start:
                return _completes(cell.text, at.text, False)
    return False


def _unspaced(folded: str) -> str:
    """`f a c t u r a` → `factura`."""
    return folded.replace(" ", "") if re.fullmatch(r"(?:[a-z] ){3,}[a-z]", folded) else folded


def merit(text: str) -> float:
    """What a text is worth as a name, by its looks."""
    folded = _unspaced(fold(text))
    letters = sum(map(str.isalpha, folded))
    if letters < 3 or re.fullmatch(r"(?:d|sr)\.?/[a-z.]+", folded):  # `D./Dña.` heads a name
        return -5.0
    score = 0.0
    score += 1.0 if LEGAL_FORM.search(folded) else 0.0
    score -= 1.6 if _ADDRESS.search(folded) else 0.0
    score -= 2.5 if _NOT_A_NAME.search(folded) else 0.0
    score -= 2.0 * sum(map(str.isdigit, folded)) / len(folded) + 0.3 * any(map(str.isdigit, folded))
    score -= 1.0 * (len(folded.split()) > 8) + 0.8 * text.rstrip().endswith((":", "?"))
    score -= 1.5 * bool(re.search(r"[a-z]{3}\.?: ?[a-z0-9]", folded))  # a label and its value
    return score


def named(at: Stretch, document: Document) -> Candidate:
    """A name as it was printed, as far as the reader's usual mistakes can be undone."""
    scanned = document.pages[at.page].source == Source.OCR
    return Candidate(repaired(at.text) if scanned else at.text, at)


def labelled(
    name: str, document: Document, hits: Sequence[Sequence[Hit]], block: bool = False, any_text: bool = False
) -> list[Scored]:
    """Names by their label. With `any_text`, whatever stands there."""
    found: list[Scored] = []
    for hit in (hit for line in hits for hit in line if name in hit.worth and stands_alone(hit, document)):
        for place, worth in beside(hit, document, hits):
            at = place if any_text else cleaned(_without_code(place, hit, document), document)
            if at is None or (not any_text and _runs_on_from_above(at, document)):
                continue
            if not any_text:
                at = wrapped(at, document, told=at.line == hit.at.line) or at
            looks = 0.0 if any_text else min(merit(at.text), 0.6 if not block else 1.0)
            where = "right" if at.line == hit.at.line else "below"
            parts = {"labelled": 1.0, "worth": hit.worth[name], where: 1.0} | (
                {} if any_text else _looks(at.text)
            )
            candidate = Candidate(at.text, at) if any_text else named(at, document)
            less = 1.5 * (not any_text and _is_next_heading(at, hit, document))
            found.append(Scored(candidate, hit.worth[name] + worth + looks - less, parts))
    return found


def _is_next_heading(at: Stretch, hit: Hit, document: Document) -> bool:
    """`FACTURAR A   OBRA`: one word in the next column, while something stands under the label."""
    line = document.lines[hit.at.line]
    if at.line != hit.at.line or " " in at.text or WIDE not in line.text[hit.at.end : at.start]:
        return False
    below = document.lines[at.line + 1 : at.line + 2]
    return ":" not in line.text[hit.at.end : at.start] and any(
        abs(cell.box[0] - hit.at.box[0]) < 0.012 and merit(cell.text) >= 0
        for later in below
        for cell in later.columns()
    )


def _without_code(at: Stretch, hit: Hit, document: Document) -> Stretch:
    """`Cliente: 12034 Cafetería …`: a number before the name."""
    code = _CODE_BEFORE.match(at.text) if at.line == hit.at.line else None
    return document.lines[at.line].stretch(at.start + code.end(), at.end) if code else at


def stands_alone(hit: Hit, document: Document) -> bool:
    """Whether a word is meant as a label: it begins its column or has a colon."""
    line = document.lines[hit.at.line]
    end = line.column_end(hit.at.start)
    rest = line.text[hit.at.end : end].strip()
    if rest.startswith((":", "/", ".:")):
        return True
    begins = not line.text[max(line.text.rfind(WIDE, 0, hit.at.start), 0) : hit.at.start].strip(
        " .-*·0123456789"
    )
    return begins and (len(hit.at.text) > 4 or not rest)


def over(document: Document, numbers: Sequence[Scored]) -> list[Scored]:
    """Names without a label of their own, by the number of a person that stands under them."""
    found = []
    for number in numbers:
        at = number.candidate.at
        if number.score < 2:
            continue
        for up, line in enumerate(reversed(document.lines[max(at.line - 4, 0) : at.line])):
            for column in line.columns():
                words = column.text.split()
                near = (
                    aligned(column.box, at.box)
                    or abs(column.box[0] - document.lines[at.line].stretch(*_cell(document, at)).box[0])
                    < 0.012
                )
                if line.page == at.page and near and 2 <= len(words) <= 6 and _is_person(column.text):
                    parts = {"block": 1.0, **_looks(column.text)}
                    found.append(Scored(named(column, document), 3.0 - 0.35 * up, parts))
    return found


def _cell(document: Document, at: Stretch) -> tuple[int, int]:
    line = document.lines[at.line]
    start = line.text.rfind(WIDE, 0, at.start)
    return (start + len(WIDE) if start >= 0 else 0), at.end


def _is_person(text: str) -> bool:
    return merit(text) >= 0 and not any(map(str.isdigit, text)) and ":" not in text


def addressed(document: Document, hits: Sequence[Sequence[Hit]]) -> list[Scored]:
    """Whom the document may be sent to: the name over an address, best at the right and below the first."""
    found = []
    domains = _domains(document.text)
    for block in blocks(document):
        first = block.cells[0]
        evidence = block.evidence
        at = cleaned(first, document)
        if at is None or evidence < 1.6 or merit(at.text) < 0 or _is_heading(first, hits) or ":" in at.text:
            continue
        if _runs_on_from_above(first, document):
            continue
        at = wrapped(at, document) or at
        if STREET.search(fold(at.text)) or POSTCODE.search(fold(at.text)):
            continue
        right, goes_on = first.box[0] > 0.4, _goes_on_from(first, document)
        acts_for = _acts_for(block, document)
        goes_on = goes_on and not acts_for
        evidence -= 2.0 * (acts_for and not LEGAL_FORM.search(fold(first.text)))
        score = (
            1.0 + evidence + 0.8 * right - 1.0 * (first.line < 1) - 0.5 * (first.box[1] > 0.5) - 1.5 * goes_on
        )
        score -= 2.0 * bool(_BANK.search(fold(at.text)))
        # Whoever has a site or a mail address of this name wrote the document.
        score -= 1.5 * any(domain in fold(at.text).replace(" ", "") for domain in domains)
        parts = {
            "block": 1.0,
            "company": whose_number(first, document),
            "column": float(right),
            "top": min(first.line, 12) / 12,
            "continues": float(goes_on),
        }
        found.append(Scored(named(at, document), score, parts | _looks(at.text)))
    return found


def _acts_for(block: Block, document: Document) -> bool:
    """A guest over the company that pays: the name with the legal form and the number is the one meant."""
    first, *below = block.cells
    above = document.lines[first.line - 1].columns() if first.line else ()
    near = [cell for cell in above if abs(cell.box[0] - first.box[0]) < 0.012 and _is_person(cell.text)]
    has_form = bool(LEGAL_FORM.search(fold(first.text)))
    other = near[:1] if has_form else below[:1]
    return (
        whose_number(first, document) > 0
        and bool(other)
        and bool(LEGAL_FORM.search(fold(other[0].text))) != has_form
        and _is_person(first.text if not has_form else other[0].text)
        and not _repeats(fold(first.text), fold(other[0].text))
    )


def _goes_on_from(first: Stretch, document: Document) -> bool:
    """Another text stands right above it: then it is not the first line of its block."""
    above = document.lines[first.line - 1] if first.line else None
    if above is None or above.page != first.page:
        return False
    height = first.box[3] - first.box[1]
    return any(
        abs(cell.box[0] - first.box[0]) < 0.012
        and first.box[1] - cell.box[3] < 0.9 * height
        and merit(cell.text) >= 0
        and ":" not in cell.text
        for cell in above.columns()
    )


def _is_heading(at: Stretch, hits: Sequence[Sequence[Hit]]) -> bool:
    return any(
        hit.at.start < at.end and hit.at.end > at.start
        for hit in hits[at.line]
        if len(hit.at.text) > 2 or hit.at.start <= at.start  # the "de" of a surname is no label
    )


def letterhead(document: Document, customers: Sequence[Hit], hits: Sequence[Sequence[Hit]]) -> list[Scored]:
    """Who wrote the document, by what its first lines and its legal forms look like."""
    first = [line for line in document.lines if line.page == 0]
    if not first:
        return []
    # The small print of a later page may be the only place where the company is named.
    first += [line for line in document.lines if line.page and line.box[1] > _FOOT and _small_print(line)]
    usual = median(line.height for line in first)
    domains = _domains(document.text)
    brands = _brands(first[:_BRAND_LINES])
    found: list[Scored] = []
    for rank, line in enumerate(first):
        for number, column in enumerate(line.columns()):
            owner = _owns_number(column, line, document)
            if rank >= _TOP_LINES and owner < 1 and not LEGAL_FORM.search(fold(column.text)):
                continue
            heading, whose = _is_label(column, hits), whose_number(column, document)
            for at, joined in _readings(column, document):
                tall = min(max((column.box[3] - column.box[1]) / usual - 1, 0.0), 1.0)
                known = any(domain in fold(at.text).replace(" ", "") for domain in domains)
                known = known or _is_of_brand(at.text, brands)
                theirs = belongs(at, customers)
                score = 2.6 - 0.3 * min(rank, 6) - 0.3 * number + 1.2 * tall + merit(at.text)
                score -= 1.5 * fold(at.text).startswith(_BEGAN_ABOVE)
                score -= 2.5 * bool(_STATE.fullmatch(fold(at.text)))
                score += 0.8 * known - 3.0 * theirs - 0.6 * joined - 2.5 * heading + 0.8 * (owner == 1)
                parts = {
                    "letterhead": 1.0, "top": min(rank, 12) / 12, "column": min(number, 3) / 3, "tall": tall,
                    "domain": float(known), "customer": float(theirs), "joined": float(joined), "role": owner,
                    "company": whose,
                    "continues": float(at.text.rstrip().endswith(_RUNS_ON)),
                    "position": float(heading),
                    "address_below": _address_below(column, document), **_looks(at.text),
                }  # fmt: skip
                found.append(Scored(named(at, document), score, parts))
    return found


def signs(heads: Sequence[Scored]) -> list[Scored]:
    """A till prints the shop's sign over its company: where both are one name, the sign is wanted."""
    tops = {
        _bare(each.candidate.value): each.candidate for each in reversed(heads) if not each.parts["legal"]
    }
    titled = [bool(_TITLED.match(fold(each.candidate.value))) for each in heads]
    # The chemist's own name stands under the sign.
    heads = [
        Scored(each.candidate, each.score - 2.0 * own, each.parts)
        for each, own in zip(heads, titled, strict=True)
    ]
    return [
        each
        for each in heads
        if not each.parts["legal"]
        or (sign := tops.get(_bare(each.candidate.value))) is None
        or sign.at.line > each.candidate.at.line
    ]


def owners(heads: Sequence[Scored], document: Document) -> list[Scored]:
    """On an invoice whoever has the tax id is the vendor, not the brand or the sign over it."""
    return [Scored(each.candidate, each.score + _ownership(each, document), each.parts) for each in heads]


def _ownership(each: Scored, document: Document) -> float:
    parts = each.parts
    if parts["customer"]:
        return 0.0
    if parts["role"] == 1 and parts["legal"]:
        return 1.5 + 0.8 * (parts["company"] > 0)
    if parts["role"] and parts["legal"] and parts["company"] > 0:
        return 0.8
    return -2.0 * (parts["company"] < 0 and _is_trade_name(each.candidate.at, document))


def _is_trade_name(at: Stretch, document: Document) -> bool:
    """A sign, and right under it the full name of the person whose number follows."""
    below = _below(at, document, alike=False)
    return below is not None and _full_name(below.text) and not _full_name(at.text)


def _full_name(text: str) -> bool:
    words = [word for word in text.split() if fold(word) not in _SMALL_WORDS]
    return 3 <= len(words) <= 5 and all(word.isalpha() and word[0].isupper() for word in words)


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, LEGAL_FORM.sub("", fold(name))))


def _small_print(line: Line) -> bool:
    return bool(_REGISTRY.search(line.folded) or TAX_ID.search(line.folded)) and bool(
        LEGAL_FORM.search(line.folded)
    )


def _owns_number(column: Stretch, line: Line, document: Document) -> float:
    """1 where a tax id follows on the line, as in the small print; a half where one stands under it."""
    if column.line >= _TOP_LINES and (
        TAX_ID.search(line.folded, column.start) or _REGISTRY.search(line.folded, column.start)
    ):
        return 1.0
    below = document.lines[column.line + 1 : column.line + 5]
    return 0.5 * any(
        TAX_ID.search(fold(cell.text)) and abs(cell.box[0] - column.box[0]) < 0.02
        for other in below
        for cell in other.columns()
    )


def whose_number(column: Stretch, document: Document) -> float:
    """1 where the first tax id under a name is a company's, -1 where it is a person's, 0 without one."""
    for line in document.lines[column.line : column.line + 6]:
        for cell in line.columns():
            if line.page != column.page or abs(cell.box[0] - column.box[0]) > 0.02:
                continue
            if found := _COMPANY_OR_PERSON.search(fold(cell.text)):
                return 1.0 if found["company"] else -1.0
    return 0.0


def _is_label(at: Stretch, hits: Sequence[Sequence[Hit]]) -> bool:
    """The cell is a label and nothing more."""
    return any(
        hit.at.start <= at.start + 1 and hit.at.end >= at.end - 2
        for hit in hits[at.line]
        if hit.at.end > at.start
    )


def _readings(column: Stretch, document: Document) -> Iterator[tuple[Stretch, bool]]:
    """The cell as a name; up to its legal form where more follows; and with the line on which it runs on."""
    if _runs_on_from_above(column, document):
        return
    whole = wrapped(column, document) or _with_next_line(column, document)
    at = cleaned(column, document, person=False) if whole is column else whole
    if at is None:
        return
    yield at, False
    if (short := _up_to_form(at, document)) is not None:
        yield short, False
    if whole is column and (longer := _joined(column, document)) is not None:
        yield longer, True


def _up_to_form(at: Stretch, document: Document) -> Stretch | None:
    """`Acme, S.A. Calle Mayor 1. CIF …`: in the small print the name ends with its legal form."""
    form = LEGAL_FORM.search(fold(at.text))
    if form is None or len(at.text) - form.end() < 4 or form.start() < 3:
        return None
    return document.lines[at.line].stretch(at.start, at.start + form.end()) if at.end > at.start else None


def _joined(column: Stretch, document: Document) -> Stretch | None:
    """With the next line, where that is as large, begins or centres alike and may be more of the name."""
    if column.line + 1 >= len(document.lines) or column.line > 6:
        return None
    line = document.lines[column.line + 1]
    below = next(iter(line.columns()), None)
    if below is None or line.page != column.page or below.text.count(" ") > 6 or merit(below.text) < -0.2:
        return None
    height, other = column.box[3] - column.box[1], below.box[3] - below.box[1]
    middle = abs(column.box[0] + column.box[2] - below.box[0] - below.box[2]) / 2
    alike = min(middle, abs(column.box[0] - below.box[0])) < 0.06
    near = below.box[1] - column.box[3] < 0.8 * max(height, other)
    if not alike or not near or not 0.7 < other / max(height, 1e-6) < 1.4:
        return None
    if _repeats(fold(column.text), fold(below.text)):
        return None
    if _TITLED.match(fold(below.text)) or _STATE.fullmatch(fold(column.text)):
        return None  # a person under the sign, a ministry under the state
    text = _REGISTERED.sub("", below.text)
    return Stretch(
        f"{column.text} {text}".strip(), union([column.box, below.box]),
        min(column.confidence, below.confidence), column.page, column.line, column.start, column.end,
    )  # fmt: skip


def _address_below(column: Stretch, document: Document) -> float:
    """Whether a street, a town or a registration follows on the next lines."""
    later = " ".join(line.folded for line in document.lines[column.line + 1 : column.line + 4])
    return 0.5 * bool(_ADDRESS.search(later)) + 0.5 * bool(POSTCODE.search(later))


def _looks(text: str) -> dict[str, float]:
    folded = fold(text)
    letters = [char for char in text if char.isalpha()]
    return {
        "legal": float(bool(LEGAL_FORM.search(folded))), "address": float(bool(_ADDRESS.search(folded))),
        "not_name": float(bool(_NOT_A_NAME.search(folded))), "words": min(len(folded.split()), 10) / 10,
        "caps": sum(map(str.isupper, letters)) / max(len(letters), 1),
        "digits": sum(map(str.isdigit, folded)) / max(len(folded), 1),
    }  # fmt: skip


def _with_next_line(column: Stretch, document: Document) -> Stretch:
    """A name may run on: the next line closes its bracket or begins with the rest of a company's name."""
    for line in document.lines[column.line + 1 : column.line + 3]:
        folded = fold(line.text)
        opened = column.text.count("(") > column.text.count(")")
        if line.page != column.page or not (opened or _GOES_ON.match(folded)) or _ADDRESS.search(folded):
            break
        if (not opened and len(line.columns()) > 1) or line.box[2] < column.box[0]:
            break  # it stands under another column
        below = line.stretch(0, len(_REGISTERED.sub("", line.text)))
        column = Stretch(
            f"{column.text} {below.text}".replace(WIDE, " "), union([column.box, below.box]),
            min(column.confidence, below.confidence), column.page, column.line, column.start, column.end,
        )  # fmt: skip
    return column


def _brands(lines: Sequence[Line]) -> set[str]:
    """Words that stand alone at the top, as a logo does."""
    cells = [fold(cell.text) for line in lines for cell in line.columns()]
    return {cell for cell in cells if re.fullmatch(r"[a-z]{4,}", cell) and not _NOT_A_NAME.search(cell)}


def _is_of_brand(name: str, brands: set[str]) -> bool:
    """The company whose logo it is: the word is part of its longer name."""
    words = fold(name).split()
    return len(words) > 1 and bool(LEGAL_FORM.search(fold(name))) and not brands.isdisjoint(words[:-1])


def _domains(text: str) -> set[str]:
    found = re.findall(r"(?:@|www\.)([a-z0-9-]{4,})\.", fold(text))
    return {domain.replace("-", "") for domain in found} - {"gmail", "hotmail", "yahoo", "outlook"}


def belongs(at: Stretch, owners: Sequence[Hit], lines: int = 6) -> bool:
    """Whether a text stands in the block that one of these labels opens."""
    return any(
        hit.at.page == at.page
        and 0 <= at.line - hit.at.line <= lines
        and (hit.at.line != at.line or hit.at.end <= at.start)
        and (hit.at.line == at.line or hit.at.box[0] - 0.03 <= at.box[0] <= hit.at.box[0] + 0.3)
        for hit in owners
    )
