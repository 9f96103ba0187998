"""Looks for every field that is asked for, each by its kind, and lets sums and validators speak."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from docproc.apps.documents.understanding.extract import (
    addresses,
    candidate_context,
    candidates,
    carried,
    counterparties,
    datelines,
    entries,
    names,
    normalise,
    periods,
    scorer,
)
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.counterparties import PAIRS, PARTIES
from docproc.apps.documents.understanding.extract.currencies import currencies
from docproc.apps.documents.understanding.extract.hits import (
    Hit,
    Told,
    pointing,
    rules,
    stands_alone,
    vocabulary,
)
from docproc.apps.documents.understanding.extract.item_headings import without_column_labels
from docproc.apps.documents.understanding.extract.labels import Rule, rules_of
from docproc.apps.documents.understanding.extract.layout import Document, layout
from docproc.apps.documents.understanding.extract.normalise import Conventions
from docproc.apps.documents.understanding.extract.number_owners import NumberOwners
from docproc.apps.documents.understanding.extract.score import Choice, Scored, choose, less_likely
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.extract.summed_amounts import SummedAmounts
from docproc.apps.documents.understanding.extract.type_hooks import TypeHook, hook_of
from docproc.reading.page import PageText

_OTHER_PARTY = ("customer_name", "employee_name")
_ADDRESSED = ("customer_name", "employee_name", "account_holder")
_POSITIVE = ("withheld", "withheld_amount")  # printed with a minus, meant as an amount


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
    hook: TypeHook
    _told: dict[str, list[Told]] = field(default_factory=dict)
    _scored: dict[str, list[Scored]] = field(default_factory=dict)
    _entries: set[int] | None = None
    _carried: frozenset[int] | None = None

    def __post_init__(self) -> None:
        self._owners = NumberOwners(self)
        self._sum = SummedAmounts(self)

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
                without_column_labels(hits, line.folded)
                for hits, line in zip(words.hits(document), document.lines, strict=True)
            ],
            hook_of(doc_type),
        )

    def value(self, spec: FieldSpec) -> FieldValue | None:
        choice = self.choice(spec)
        if choice is None:
            return None
        at = choice.candidate.at
        source = self.document.pages[at.page].source
        return FieldValue(choice.candidate.value, choice.confidence, source, at.page, at.box)

    def choice(self, spec: FieldSpec) -> Choice | None:
        if decided := self.hook.decided(self, spec.name):
            return decided[0]
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
            if name in PAIRS:
                self._keep_apart(PAIRS[name])
            if name in PARTIES and self.hook.orders_parties:
                self._in_order()
        return self._scored[name]

    def _in_order(self) -> None:
        """Of two parties that headings name side by side or one after the other, the first is party_a."""
        if not all(name in self._scored for name in PARTIES):
            return
        one, other = (scorer.rank(self._scored[name], self.doc_type, name, "name") for name in PARTIES)
        if one and other and counterparties.are_swapped(one.best.at, other.best.at):
            first, second = (self._scored[name] for name in PARTIES)
            self._scored |= dict(zip(PARTIES, (second, first), strict=True))

    def _keep_apart(self, pair: tuple[str, str]) -> None:
        """The two parties are not the same: the one keeps the name that needs it more."""
        if not self.hook.has_two_parties or not all(name in self.rules for name in pair):
            return
        for name in pair:
            if name not in self._scored:
                self._scored[name] = self._all(name)
        one, other = (
            scorer.rank(self._scored[name], self.doc_type, name, self.rules[name].kind) for name in pair
        )
        if one is None or other is None:
            return
        if loser := counterparties.loser(pair, one, other):
            taken = one.best.value
            self._scored[loser] = [
                each
                for each in self._scored[loser]
                if not counterparties.is_same(each.candidate.value, taken)
            ]

    def _all(self, name: str) -> list[Scored]:
        rule = self.rules[name]
        if rule.kind == "amount" and name in self._sum.parts:
            return self._sum.scored(name)
        if name in _POSITIVE and self._sum.parts:
            return self._sum.withheld(self.by_label(name))
        if rule.kind == "place_name":
            return self._issuer(name, rule)
        if rule.kind == "name":
            return self._person(name, rule)
        if rule.kind == "currency":
            return currencies(self.document)
        if rule.kind == "address":
            return addresses.addresses(self.document, self.how)
        if rule.kind == "period":
            labelled = names.labelled(name, self.document, self.hits, any_text=True)
            return periods.periods(self.document, labelled)
        if rule.kind == "text":
            return names.labelled(name, self.document, self.hits, any_text=True)
        return self.by_label(name)

    def _issuer(self, name: str, rule: Rule) -> list[Scored]:
        """Who wrote the document: letterhead, label, or small print with a legal form."""
        others = [each for other in _OTHER_PARTY for each in self.headings(other)]
        heads = names.letterhead(self.document, others, self.hits)
        heads = self.hook.issuers(heads, self.document)
        return heads + names.labelled(name, self.document, self.hits, rule.block)

    def _person(self, name: str, rule: Rule) -> list[Scored]:
        """The other party: beside a label, over its number, or in an address that is not the letterhead."""
        scored = names.labelled(name, self.document, self.hits, rule.block)
        if name == "employee_name":
            scored += names.over(self.document, self.scored("employee_tax_id"))
        if name in _ADDRESSED:
            sent_to = names.addressed(self.document, self.hits)
            if name == "employee_name":
                sent_to = [
                    less_likely(each, each.parts["company"] > 0 or each.parts["legal"] > 0)
                    for each in sent_to
                ]
            scored += sent_to
        return scored + self.hook.persons(name, self.document)

    def by_label(self, name: str) -> list[Scored]:
        """All values of the field's kind, by what the labels around them say for it."""
        rule = self.rules[name]
        told = self.told(rule.kind)
        crowd = candidate_context.of(rule.kind, [each.candidate for each in told], self.document)
        last = max(len(self.document.lines) - 1, 1)
        scored = []
        for each, parts in zip(told, crowd, strict=True):
            candidate = each.candidate
            label, worth, how = each.best(name)
            down = candidate.at.line / last
            place = abs(rule.bottom) * (down if rule.bottom > 0 else 1 - down)
            owner = self._owners.worth(name, candidate)
            score = max(rule.alone, label) + place + candidate.merit + owner
            if rule.kind == "date" and name == "date":
                line = self.document.lines[candidate.at.line]
                score += datelines.worth(line, candidate.at, self.hook.signing_worth, self.hook.term_costs)
            parts |= {
                "labelled": float(label > rule.alone),
                "worth": worth,
                "pull": each.pull(name),
                "owner": owner,
            }
            parts |= {how: 1.0} if how else {}
            if rule.kind == "amount" and candidate.at.line in self._carried_lines():
                score -= carried.COSTS
            if (
                rule.kind == "amount"
                and name not in rules_of(self.doc_type)
                and each.is_beside(name, self.document)
            ):
                score -= min(candidate.merit, 0.0)  # a whole number, but its own label stands before it
            if rule.kind == "date" and candidate.at.line in self._entry_lines():
                parts["row"] = 1.0
                if name == "date" and len(self._entry_lines()) > 1:
                    score -= self.hook.entry_costs
            if name in _POSITIVE:
                candidate = replace(candidate, value=candidate.value.removeprefix("-"))
            scored.append(Scored(candidate, score, parts))
        return self._lone(self._outside_entries(scored, rule), rule)

    def _outside_entries(self, scored: list[Scored], rule: Rule) -> list[Scored]:
        """Of a document that its head dates, dates in rows of entries count only if there are no others."""
        if not self.hook.is_dated_by_its_head or rule.kind != "date":
            return scored
        return [each for each in scored if not each.parts.get("row")] or scored

    def _entry_lines(self) -> set[int]:
        if self._entries is None:
            dates, priced = ([each.candidate for each in self.told(kind)] for kind in ("date", "amount"))
            self._entries = entries.entry_lines(self.document, dates, priced)
        return self._entries

    def _carried_lines(self) -> frozenset[int]:
        if self._carried is None:
            self._carried = carried.lines(self.document)
        return self._carried

    def _lone(self, scored: list[Scored], rule: Rule) -> list[Scored]:
        """The only date of a document is its date."""
        if rule.kind == "date" and rule.alone > 0 and len({each.candidate.value for each in scored}) == 1:
            return [Scored(each.candidate, each.score + 1.2, each.parts) for each in scored]
        return scored

    def headings(self, name: str) -> list[Hit]:
        """The labels of a name, not the same words in running text."""
        return [
            hit
            for line in self.hits
            for hit in line
            if name in hit.worth and stands_alone(hit, self.document)
        ]

    def told(self, kind: str) -> list[Told]:
        """The values of a kind that the document prints, each with the labels that point to it."""
        if kind not in self._told:
            printed = candidates.find(kind, self.document, self.how)
            self._told[kind] = [Told(each, pointing(each, self.document, self.hits)) for each in printed]
        return self._told[kind]

    def _odd_dates(self, name: str) -> list[Scored]:
        scored = []
        for each in names.labelled(name, self.document, self.hits, any_text=True):
            text = each.candidate.value
            if (
                re.search(r"\d", text)
                and len(text) < 40
                and (value := normalise.odd_date(text, self.how.day_first))
            ):
                scored.append(Scored(Candidate(value, each.candidate.at), each.score - 0.8, each.parts))
        return scored
