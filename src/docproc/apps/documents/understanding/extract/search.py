"""Looks for every field that is asked for, each by its kind, and lets sums and validators speak."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from docproc.apps.documents.understanding.extract import (
    amounts,
    candidates,
    crowds,
    datelines,
    identity,
    identity_print,
    names,
    normalise,
    periods,
    scorer,
    tax_table,
)
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.hits import (
    Hit,
    Told,
    belongs,
    pointing,
    rules,
    stands_alone,
    vocabulary,
)
from docproc.apps.documents.understanding.extract.labels import SUMS, Rule
from docproc.apps.documents.understanding.extract.layout import WIDE, Document, Stretch, layout
from docproc.apps.documents.understanding.extract.normalise import Conventions
from docproc.apps.documents.understanding.extract.parties import parties
from docproc.apps.documents.understanding.extract.score import Choice, Scored, choose, less_likely
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.reading.folding import fold
from docproc.reading.page import PageText

_OTHER_PARTY = ("customer_name", "employee_name")
_APART = {
    name: pair
    for pair in (
        ("vendor_name", "customer_name"),
        ("company_name", "employee_name"),
        ("party_a", "party_b"),
        ("vendor_tax_id", "customer_tax_id"),
    )
    for name in pair
}
_TAKEN = 0.9  # the share with which a number is the vendor's, and so not the customer's
_PARTIES = ("party_a", "party_b")
_NEAR = 12  # lines between the headings of two parties
_ADDRESSED = ("customer_name", "employee_name", "account_holder")
_POSITIVE = ("withheld", "withheld_amount")  # printed with a minus, meant as an amount
_PERSON = re.compile(r"[xyzklm]?\d+[- ]?[a-z]$|\d{3}-\d{2}-|[a-z]{2} ?\d{2} ?\d{2} ?\d{2}")
_CURRENCY_SIGN = re.compile(r"€|us\$|\$|£|(?<![a-z])(?:eur|euros|usd|gbp|rm|myr)(?![a-z])")
_ITEM_HEADING = re.compile(
    r"(?<![a-z])(?:descripcion|concepto|articulo|producto|servicio|cant|cantidad|ctd|uds|unidades|precio|pvp"
    r"|importe|dto|p\. ?unit|subtotal|description|item|particulars|details|qty|quantity|units|price"
    r"|unit cost|rate|disc|line total|amount)(?![a-z])"
)


def find(
    doc_type: str, fields: Sequence[FieldSpec], pages: Sequence[PageText]
) -> dict[str, FieldValue | None]:
    """What the print says of the fields; all asked for are answered, None: not found."""
    search = Search.of(doc_type, tuple(fields), pages)
    return {field.name: search.value(field) for field in fields}


@dataclass
class Search:
    """One document being searched; what one field needs of another is found once."""

    doc_type: str
    rules: dict[str, Rule]
    document: Document
    how: Conventions
    hits: list[list[Hit]]
    _told: dict[str, list[Told]] = field(default_factory=dict)
    _scored: dict[str, list[Scored]] = field(default_factory=dict)
    _sums: dict[str, list[Scored]] | None = None
    _agreeing: dict[str, str] = field(default_factory=dict)
    _entries: set[int] | None = None
    _customer_hits: list[Hit] | None = None
    _vendor_hits: list[Hit] | None = None

    @classmethod
    def of(cls, doc_type: str, fields: tuple[FieldSpec, ...], pages: Sequence[PageText]) -> Search:
        document = layout(pages)
        words = vocabulary(doc_type, fields)
        return cls(
            doc_type,
            rules(doc_type, fields),
            document,
            normalise.conventions(document.text),
            [
                _not_of_items(hits, line.folded)
                for hits, line in zip(words.hits(document), document.lines, strict=True)
            ],
        )

    def value(self, spec: FieldSpec) -> FieldValue | None:
        choice = self.choice(spec)
        if choice is None:
            return None
        at = choice.candidate.at
        source = self.document.pages[at.page].source
        return FieldValue(choice.candidate.value, choice.confidence, source, at.page, at.box)

    def choice(self, spec: FieldSpec) -> Choice | None:
        if self.doc_type == "id_card" and (told := identity_print.printed(spec.name, self.document)):
            return told
        if self.doc_type == "id_card" and spec.name == "full_name":
            return self._full_name()
        return choose(self.candidates(spec), self.doc_type, spec.name, self.rules[spec.name].kind)

    def candidates(self, spec: FieldSpec) -> list[Scored]:
        """All that a field's value is chosen from."""
        scored = self.scored(spec.name)
        if spec.type == "date" and not any(each.score > 0 for each in scored):
            scored = self._odd_dates(spec.name)
        return scored

    def scored(self, name: str) -> list[Scored]:
        """The candidates for a field, each with what speaks for it."""
        if name not in self._scored:
            self._scored[name] = self._all(name)
            if name in _APART:
                self._keep_apart(*_APART[name])
            if name in _PARTIES and self.doc_type == "contract":
                self._in_order()
        return self._scored[name]

    def _in_order(self) -> None:
        """Of two parties that headings name side by side or one after the other, the first is party_a."""
        if not all(name in self._scored for name in _PARTIES):
            return
        ranks = [scorer.rank(self._scored[name], self.doc_type, name, "name") for name in _PARTIES]
        if ranks[0] is None or ranks[1] is None:
            return
        one, other = ranks[0].best.at, ranks[1].best.at
        near = one.page == other.page and 0 <= one.line - other.line < _NEAR
        if near and (other.line, other.start) < (one.line, one.start):
            first, second = (self._scored[name] for name in _PARTIES)
            self._scored |= dict(zip(_PARTIES, (second, first), strict=True))

    def _keep_apart(self, first: str, second: str) -> None:
        """The two parties are not the same: the one keeps the name that needs it more."""
        if self.doc_type == "receipt" or first not in self.rules or second not in self.rules:
            return
        for name in (first, second):
            if name not in self._scored:
                self._scored[name] = self._all(name)
        one = scorer.rank(self._scored[first], self.doc_type, first, self.rules[first].kind)
        other = scorer.rank(self._scored[second], self.doc_type, second, self.rules[second].kind)
        if one is None or other is None:
            return
        if _plain(one.best.value) != _plain(other.best.value):
            if first == "vendor_tax_id" and one.share > _TAKEN:
                self._drop(second, one.best.value)
            return
        first_keeps = one.share * max(other.next, 0.1 * other.nothing) >= other.share * max(
            one.next, 0.1 * one.nothing
        )
        loser = second if first_keeps else first
        self._drop(loser, one.best.value)

    def _drop(self, name: str, value: str) -> None:
        self._scored[name] = [
            each for each in self._scored[name] if _plain(each.candidate.value) != _plain(value)
        ]

    def _all(self, name: str) -> list[Scored]:
        rule = self.rules[name]
        if rule.kind == "amount" and name in SUMS.get(self.doc_type, ()):
            return self._summed()[name]
        if name in _POSITIVE and self.doc_type in SUMS:
            return self._withheld(name)
        if rule.kind == "place_name":
            return self._issuer(name, rule)
        if rule.kind == "name":
            return self._person(name, rule)
        if rule.kind == "currency":
            return self._currency()
        if rule.kind == "period":
            labelled = names.labelled(name, self.document, self.hits, any_text=True)
            return periods.periods(self.document, labelled)
        if rule.kind == "text":
            return names.labelled(name, self.document, self.hits, any_text=True)
        return self._by_label(name, rule)

    def _issuer(self, name: str, rule: Rule) -> list[Scored]:
        """Who wrote the document: letterhead, label, or small print with a legal form."""
        others = [each for other in _OTHER_PARTY for each in self._headings(other)]
        heads = names.letterhead(self.document, others, self.hits)
        if self.doc_type == "receipt":
            heads = names.signs(heads)
        if self.doc_type == "invoice":
            heads = names.owners(heads, self.document)
        if self.doc_type == "payslip":
            heads = [less_likely(each, each.parts["company"] < 0) for each in heads]
        return heads + names.labelled(name, self.document, self.hits, rule.block)

    def _person(self, name: str, rule: Rule) -> list[Scored]:
        """The other party: beside a label, over its number, or in an address that is not the letterhead."""
        found = names.labelled(name, self.document, self.hits, rule.block)
        if name == "employee_name":
            found += names.over(self.document, self.scored("employee_tax_id"))
        if name in _ADDRESSED:
            sent_to = names.addressed(self.document, self.hits)
            if name == "employee_name":
                sent_to = [
                    less_likely(each, each.parts["company"] > 0 or each.parts["legal"] > 0)
                    for each in sent_to
                ]
            found += sent_to
        return found + (parties(self.document).get(name, []) if self.doc_type == "contract" else [])

    def _by_label(self, name: str, rule: Rule) -> list[Scored]:
        told = self._find(rule.kind)
        crowd = crowds.of(rule.kind, [each.candidate for each in told], self.document)
        last = max(len(self.document.lines) - 1, 1)
        found = []
        for each, parts in zip(told, crowd, strict=True):
            candidate = each.candidate
            label, worth, how = each.best(name)
            down = candidate.at.line / last
            place = abs(rule.bottom) * (down if rule.bottom > 0 else 1 - down)
            owner = self._owner(name, candidate)
            score = max(rule.alone, label) + place + candidate.merit + owner
            if rule.kind == "date" and name == "date":
                score += datelines.worth(self.doc_type, self.document.lines[candidate.at.line], candidate.at)
            parts |= {
                "labelled": float(label > rule.alone),
                "worth": worth,
                "pull": each.pull(name),
                "owner": owner,
            }
            parts |= {how: 1.0} if how else {}
            if rule.kind == "date" and candidate.at.line in self._entry_lines(told):
                parts["row"] = 1.0
                if name == "date" and self.doc_type == "invoice" and len(self._entry_lines(told)) > 1:
                    score -= 1.5  # a visit or a delivery among others
            if name in _POSITIVE:
                candidate = replace(candidate, value=candidate.value.removeprefix("-"))
            found.append(Scored(candidate, score, parts))
        return self._lone(self._outside_entries(found, rule), rule)

    def _outside_entries(self, found: list[Scored], rule: Rule) -> list[Scored]:
        """A statement is dated by its head or its period; by its movements only where it says no more."""
        if self.doc_type != "bank_statement" or rule.kind != "date":
            return found
        return [each for each in found if not each.parts.get("row")] or found

    def _entry_lines(self, dates: Sequence[Told]) -> set[int]:
        if self._entries is None:
            self._entries = {each.candidate.at.line for each in dates if self._is_entry(each.candidate)}
        return self._entries

    def _is_entry(self, candidate: Candidate) -> bool:
        """A date on a line that begins with one and has amounts: a movement, a night, a delivery."""
        line = candidate.at.line
        dated = any(
            each.candidate.at.line == line and each.candidate.at.start < 3 for each in self._find("date")
        )
        priced = [
            each.candidate.at.start
            for each in self._find("amount")
            if each.candidate.at.line == line and each.candidate.merit > 0
        ]
        dated = dated or self._begins_entry(candidate.at, max(priced, default=0))
        return dated and bool(priced)

    def _begins_entry(self, at: Stretch, price: int) -> bool:
        """The date begins a cell, then a service is named, then its price."""
        text = self.document.lines[at.line].text
        begins = not text[: at.start].strip() or text[: at.start].endswith(WIDE)
        return begins and sum(map(str.isalpha, text[at.end : max(price, at.end)])) > 5

    def _lone(self, found: list[Scored], rule: Rule) -> list[Scored]:
        """The only date of a document is its date."""
        if rule.kind == "date" and rule.alone > 0 and len({each.candidate.value for each in found}) == 1:
            return [Scored(each.candidate, each.score + 1.2, each.parts) for each in found]
        return found

    def _owner(self, name: str, candidate: Candidate) -> float:
        """Whose number it is: numbers of the customer stand in the customer's block."""
        if name in ("vendor_tax_id", "customer_tax_id"):
            theirs = belongs(candidate.at, self._customers())
            ours = not theirs and belongs(candidate.at, self._vendors())
            if name == "vendor_tax_id":
                return 1.0 * ours - 2.5 * theirs
            return 3.0 * theirs - 1.0 - 1.0 * ours
        if name in ("employee_tax_id", "company_tax_id"):
            person = bool(_PERSON.match(fold(candidate.value)))
            row = self.document.lines[candidate.at.line].columns()[0]
            theirs = belongs(row, self._headings("employee_name"), 2)
            own = 1.5 if theirs and person and name == "employee_tax_id" else 0.0
            return 1.0 + own if person == (name == "employee_tax_id") else -2.5
        return 0.0

    def _customers(self) -> list[Hit]:
        """The labels of the customer's block, and what seems to be its first line."""
        if self._customer_hits is None:
            found = self._headings("customer_name")
            best = max((hit.worth["customer_name"] for hit in found), default=0.0)
            # "Nombre" may head either party; "Cliente" tells whose it is.
            found = [hit for hit in found if hit.worth["customer_name"] >= best - 0.5]
            if "customer_name" in self.rules:
                choice = choose(self.scored("customer_name"), self.doc_type, "customer_name", "name")
                found = [*found, Hit(choice.candidate.at, {})] if choice else found
            self._customer_hits = found
        return self._customer_hits

    def _vendors(self) -> list[Hit]:
        """What seems to be the first line of the vendor's block."""
        if self._vendor_hits is None:
            self._vendor_hits = []
            if "vendor_name" in self.rules:
                choice = choose(self.scored("vendor_name"), self.doc_type, "vendor_name", "place_name")
                self._vendor_hits = [Hit(choice.candidate.at, {})] if choice else []
        return self._vendor_hits

    def _headings(self, name: str) -> list[Hit]:
        """The labels of a name, not the same words in running text."""
        return [
            hit
            for line in self.hits
            for hit in line
            if name in hit.worth and stands_alone(hit, self.document)
        ]

    def _find(self, kind: str) -> list[Told]:
        if kind not in self._told:
            found = candidates.find(kind, self.document, self.how)
            self._told[kind] = [Told(each, pointing(each, self.document, self.hits)) for each in found]
        return self._told[kind]

    def _summed(self) -> dict[str, list[Scored]]:
        """The amounts that make a sum, those that agree with each other raised."""
        if self._sums is None:
            parts = SUMS[self.doc_type]
            scored = {name: self._by_label(name, self.rules[name]) for name in parts}
            if "tax_amount" in parts:
                found = [each.candidate for each in self._find("amount")]
                amounts.add_tax_tables(scored, tax_table.tables(self.document, found))
                scored["tax_amount"] = amounts.included(scored["tax_amount"], self.document)
            self._agreeing = amounts.agreeing(parts, scored, self._beside_the_sum())
            self._sums = amounts.raised(scored, self._agreeing)
        return self._sums

    def _withheld(self, name: str) -> list[Scored]:
        """What is held back, best where it is what lacks between net, tax and total."""
        scored = self._by_label(name, self.rules[name])
        self._summed()
        return amounts.lacking(scored, [Decimal(value) for value in self._agreeing.values() if value])

    def _beside_the_sum(self) -> list[Decimal]:
        """What comes off or on between net + tax and the total: income tax withheld, surcharges."""
        off = [Decimal(0), *self._amounts_told("withheld")]
        return [less - more for less in off for more in (Decimal(0), *self._amounts_told("surcharge"))]

    def _amounts_told(self, name: str) -> set[Decimal]:
        if name not in self.rules:
            return set()
        scored = self._by_label(name, self.rules[name])
        return {abs(Decimal(each.candidate.value)) for each in scored if each.score > 3}

    def _currency(self) -> list[Scored]:
        counts: dict[str, list[Candidate]] = {}
        for line in self.document.lines:
            for match in _CURRENCY_SIGN.finditer(line.folded):
                if code := normalise.currency(match[0]):
                    counts.setdefault(code, []).append(Candidate(code, line.stretch(*match.span())))
        return [Scored(found[0], 2.5 + 0.6 * min(len(found), 5)) for found in counts.values()]

    def _full_name(self) -> Choice | None:
        """Given name and surname as the card prints them apart, or the name where it stands in one."""
        whole = choose(self.scored("full_name"), self.doc_type, "full_name", "name")
        given, surname = identity.given(self.document, self.hits), identity.surname(self.document, self.hits)
        if given is None or surname is None:
            return whole
        second = choose(names.labelled("second_surname", self.document, self.hits))
        parts = identity.joined(given, identity.joined(surname, second) if second else surname)
        return parts if whole is None or parts.confidence >= whole.confidence else whole

    def _odd_dates(self, name: str) -> list[Scored]:
        found = []
        for each in names.labelled(name, self.document, self.hits, any_text=True):
            text = each.candidate.value
            if (
                re.search(r"\d", text)
                and len(text) < 40
                and (value := normalise.odd_date(text, self.how.day_first))
            ):
                found.append(Scored(Candidate(value, each.candidate.at), each.score - 0.8, each.parts))
        return found


def _not_of_items(hits: Sequence[Hit], folded: str) -> list[Hit]:
    """`Ref.` over the items of an invoice heads their codes, not its number."""
    if len(set(_ITEM_HEADING.findall(folded))) < 3:
        return list(hits)
    return [
        replace(hit, worth={name: worth for name, worth in hit.worth.items() if name != "invoice_number"})
        for hit in hits
    ]


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, fold(name)))
