"""What a candidate is among its like: the largest amount, the only date, one of many on its line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import Document
from docproc.reading.folding import fold

_CLOCK = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?!\d)")
_COMPANY = re.compile(r"(?:es[- ]?)?[a-hjnp-suvw][-. ]?\d")
_CENTS = re.compile(r"[.,]\s?\d{2}(?!\d)")
_SIGN = re.compile(r"[€$£]|eur|rm|usd|gbp")
_GIVEN = re.compile(
    r"(?<![a-z])(?:cash|tender|efectivo|entregado|su entrega|recibido|received|paid|pagado|contado)"
)
_BACK = re.compile(r"(?<![a-z])(?:change|cambio|vuelta|devuelto|a devolver|devolucion)")
_CARD = re.compile(r"(?<![a-z])(?:visa|master ?card|tarjeta|tarj\.|card|debit|amex)")
_ROUNDS = re.compile(r"round|(?<![a-z])(?:rm|sdn|redondeo)(?![a-z])")
_CENT = Decimal("0.01")
_STEP = Decimal("0.05")  # to which cash is rounded where it has no cents
Parts = dict[str, float]


def of(kind: str, candidates: Sequence[Candidate], document: Document) -> list[Parts]:
    """For each candidate the parts that the scorer weighs."""
    on_line = Counter(each.at.line for each in candidates)
    if kind == "amount":
        return _amounts(candidates, on_line, _Till.of(candidates, document))
    if kind == "date":
        return _dates(candidates, document)
    return [_number(kind, each, on_line[each.at.line]) for each in candidates]


@dataclass(frozen=True)
class _Till:
    """What a till prints below the total: what was given and what came back, and whether it rounds."""

    values: frozenset[str]
    paid: frozenset[str]
    rounds: bool

    @classmethod
    def of(cls, candidates: Sequence[Candidate], document: Document) -> _Till:
        given, back = _on(_GIVEN, candidates, document), _on(_BACK, candidates, document)
        card = _on(_CARD, candidates, document)
        left = {one - other for one in given for other in back if one > other > 0}
        paid = {f"{amount:.2f}" for amount in left | card | ({*given} if Decimal(0) in back else set())}
        rounds = bool(_ROUNDS.search(fold(document.text)))
        return cls(frozenset(each.value for each in candidates), frozenset(paid), rounds)

    def rounded(self, value: str) -> float:
        """1 for a total after rounding to whole steps of cash, -1 for the one before."""
        if not self.rounds:
            return 0.0
        amount = Decimal(value)
        whole = amount % _STEP == 0
        for cent in (1, 2):
            for other in (amount - cent * _CENT, amount + cent * _CENT):
                if f"{other:.2f}" in self.values and (other % _STEP == 0) != whole:
                    return 1.0 if whole else -1.0
        return 0.0


def _on(words: re.Pattern[str], candidates: Sequence[Candidate], document: Document) -> set[Decimal]:
    return {
        abs(Decimal(each.value))
        for each in candidates
        # The last digits of a card are no amount; nothing, `0`, is one of change.
        if (each.merit > -1 or Decimal(each.value) == 0 or words is not _CARD)
        and words.search(document.lines[each.at.line].folded)
    }


def _amounts(candidates: Sequence[Candidate], on_line: Counter[int], till: _Till) -> list[Parts]:
    values = [abs(float(each.value)) for each in candidates]
    largest = max(
        (value for value, each in zip(values, candidates, strict=True) if each.merit > -1), default=0.0
    )
    return [
        {
            "largest": float(value == largest), "share": min(value / largest, 2.0) if largest else 0.0,
            "cents": float(bool(_CENTS.search(each.at.text))),
            "sign": float(bool(_SIGN.search(fold(each.at.text)))),
            "zero": float(value == 0), "rounded": till.rounded(each.value),
            "paid": float(each.value in till.paid), "row": min(on_line[each.at.line] - 1, 3) / 3,
        }
        for value, each in zip(values, candidates, strict=True)
    ]  # fmt: skip


def _dates(candidates: Sequence[Candidate], document: Document) -> list[Parts]:
    values = sorted({each.value for each in candidates})
    return [
        {
            "clock": float(bool(_CLOCK.search(document.lines[each.at.line].folded))),
            "earliest": float(len(values) > 1 and each.value == values[0]),
            "latest": float(len(values) > 1 and each.value == values[-1]),
            "only": float(len(values) == 1),
        }
        for each in candidates
    ]


def _number(kind: str, each: Candidate, on_line: int) -> Parts:
    digits = sum(map(str.isdigit, each.at.text))
    return {
        "digits": min(digits, 10) / 10, "mixed": float(any(map(str.isalpha, each.at.text))),
        "checked": float(each.merit >= 1) if kind in ("tax_id", "iban") else 0.0,
        "row": min(on_line - 1, 3) / 3,
        "company": float(bool(_COMPANY.match(fold(each.at.text)))) if kind == "tax_id" else 0.0,
    }  # fmt: skip
