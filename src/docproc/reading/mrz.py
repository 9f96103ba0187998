"""The machine-readable zone of cards and passports (ICAO 9303: TD1, TD2, TD3), with its check digits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from stdnum.es import nif

from docproc.reading.folding import fold

_WEIGHTS = (7, 3, 1)
_TO_DIGIT = str.maketrans("OQDUILZSBGT", "00001125867")
_TO_LETTER = str.maketrans("012568", "OIZSGB")
# What readers take for each other where either may stand; a check digit must confirm the exchange.
_ALIKE = {"0": "OQD", "O": "0", "Q": "0", "D": "0", "1": "I", "I": "1", "L": "1", "2": "Z", "Z": "2",
          "5": "S", "S": "5", "8": "B", "B": "8", "6": "G", "G": "6"}  # fmt: skip
_FILLERS = str.maketrans({"«": "<<", "»": "<<", "‹": "<", "≤": "<", "＜": "<", "〈": "<", "(": "<",
                          "{": "<", "[": "<", "¢": "<", "c": "<", "k": "<"})  # fmt: skip
_LOOKS = re.compile(r"[A-Z0-9<]{24,46}")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who the zone names. `failed` are the parts whose check digit does not match, "composite" for all."""

    surname: str
    given: str
    number: str
    nationality: str
    birth: str | None
    expiry: str | None
    sex: str
    failed: frozenset[str]
    is_complete: bool  # the digit over all of it was read
    lines: tuple[int, ...] = ()  # where the zone's lines stand among those given

    @property
    def name(self) -> str:
        return " ".join(part for part in (self.given, self.surname) if part)

    @property
    def valid(self) -> bool:
        """Every check digit that was read matches."""
        return not self.failed


def check_digit(text: str) -> int:
    return sum(_value(char) * _WEIGHTS[place % 3] for place, char in enumerate(text)) % 10


def _value(char: str) -> int:
    if char.isdigit():
        return int(char)
    return ord(char) - 55 if "A" <= char <= "Z" else 0


def parse(lines: Sequence[str]) -> Holder | None:
    """The zone among the lines of a page, or None. Signs that look alike are put right by place and digit."""
    zone = [(index, text) for index, line in enumerate(lines) if (text := _zone_line(line))]
    best: Holder | None = None
    for at in range(len(zone)):
        for parser, count in ((_td1, 3), (_td3, 2), (_td2, 2)):
            part = zone[at : at + count]
            if len(part) == count and (holder := parser([text for _, text in part])):
                if best is None or len(holder.failed) < len(best.failed):
                    best = replace(holder, lines=tuple(index for index, _ in part))
                if holder.valid:
                    return best
    return best


def _zone_line(line: str) -> str:
    text = re.sub(r"[\s.,'’·]", "", line)
    if sum(map(str.islower, text)) * 3 < len(text):  # there are no small letters: these are fillers misread
        text = text.translate(_FILLERS)
    text = "".join(char if char.isascii() else fold(char) for char in text).upper()
    return text if _LOOKS.fullmatch(text) and ("<" in text or sum(map(str.isdigit, text)) > 12) else ""


@dataclass(frozen=True, slots=True)
class _Parts:
    """A zone cut into its fields, by the layout of its kind."""

    state: str
    number: str
    number_digit: str
    dates: str  # birth, digit, sex, expiry, digit
    nationality: str
    names: str
    optional: str  # what follows the number, where a card has it
    more: str  # the rest that the last digit covers
    last: str


def _td1(zone: list[str]) -> Holder | None:
    if not all(27 <= len(line) <= 33 for line in zone) or zone[0][0] not in "IAC1" or "<<" not in zone[2]:
        return None
    first, second, third = _fit(zone[0], 30), _fit(zone[1], 30, 1), _fit(zone[2], 30)
    return _holder(
        _Parts(first[2:5], first[5:14], first[14], second[:15], second[15:18], third, first[15:],
               second[18:29], second[29])
    )  # fmt: skip


def _td2(zone: list[str]) -> Holder | None:
    if not all(33 <= len(line) <= 39 for line in zone) or zone[0][0] not in "IAC1V" or "<<" not in zone[0]:
        return None
    return _two_lines(_fit(zone[0], 36), _fit(zone[1], 36, 1))


def _td3(zone: list[str]) -> Holder | None:
    if not all(40 <= len(line) <= 46 for line in zone) or zone[0][0] not in "PV" or "<<" not in zone[0]:
        return None
    return _two_lines(_fit(zone[0], 44), _fit(zone[1], 44, 2))


def _two_lines(first: str, second: str) -> Holder | None:
    # Visas have no digit over all of it: the last place is free.
    last = "<" if first[0] == "V" else second[-1]
    return _holder(
        _Parts(first[2:5], second[:9], second[9], second[13:28], second[10:13], first[5:], "",
               second[28:-1], last)
    )  # fmt: skip


def _fit(line: str, length: int, tail: int = 0) -> str:
    """Readers drop or add fillers: they are put back where fillers are, before the `tail`."""
    if tail and not _digits(line[-1]).isdigit():
        tail = 0
    head, end = line[: len(line) - tail], line[len(line) - tail :]
    while len(head) > length - tail and "<<" in head:
        at = head.rindex("<<")
        head = head[:at] + head[at + 1 :]
    return head[: length - tail].ljust(length - tail, "<") + end


def _holder(parts: _Parts) -> Holder | None:
    dates = parts.dates
    birth, birth_digit = _digits(dates[0:6]), _digits(dates[6])
    expiry, expiry_digit = _digits(dates[8:14]), _digits(dates[14])
    if not (birth.isdigit() and expiry.isdigit()):
        return None
    number, number_digit = (
        _checked_number(parts.number, _digits(parts.number_digit)),
        _digits(parts.number_digit),
    )
    optional = _personal(parts.optional, parts.state)
    checked = number + number_digit, birth + birth_digit, expiry + expiry_digit
    failed = {
        part
        for part, text in zip(("number", "birth", "expiry"), checked, strict=True)
        if not _holds(text[:-1], text[-1])
    }
    last = _digits(parts.last)
    # Cards put what follows the number before the dates, the others after them.
    whole = checked[0] + optional + checked[1] + checked[2] + parts.more
    if last.isdigit() and not _holds(whole, last):
        failed.add("composite")
    own = _own_number(number, optional, parts.state)
    if own != number.strip("<"):  # the NIF has a check of its own
        failed = (failed - {"number"}) | (set() if nif.is_valid(own) else {"number"})
    surname, _, given = parts.names.translate(_TO_LETTER).partition("<<")
    return Holder(
        _name(surname),
        _name(given),
        own,
        _state(parts.nationality.translate(_TO_LETTER).strip("<")),
        _date(birth, _century(birth, expiry)),
        _date(expiry, 2000),
        {"M": "M", "F": "F", "<": "X", "X": "X"}.get(dates[7], ""),
        frozenset(failed),
        last.isdigit(),
    )


def _digits(text: str) -> str:
    return text.translate(_TO_DIGIT)


def _holds(text: str, digit: str) -> bool:
    return digit.isdigit() and check_digit(text) == int(digit)


def _checked_number(number: str, digit: str) -> str:
    """The number as read, or as it must have been: 0 and O look alike, the check digit knows."""
    for read in (number, _digits(number), number[:3].translate(_TO_LETTER) + _digits(number[3:])):
        if _holds(read, digit):
            return read
    changed = {read for read in _exchanged(number) if _holds(read, digit)}
    return changed.pop() if len(changed) == 1 else number


def _exchanged(text: str) -> Iterator[str]:
    """The text with one sign exchanged for one that looks like it."""
    for place, char in enumerate(text):
        for other in _ALIKE.get(char, ""):
            yield text[:place] + other + text[place + 1 :]


def _personal(optional: str, state: str) -> str:
    """What follows the number, with a Spanish NIF in it read as one: its letter confirms it."""
    read = optional.strip("<").split("<")[0]
    if not _is_spanish(state) or not read or nif.is_valid(read):
        return optional
    for first in (_digits(read[:1]), read[:1].translate(_TO_LETTER)):
        changed = first + _digits(read[1:-1]) + read[-1:].translate(_TO_LETTER)
        if nif.is_valid(changed):
            return optional.replace(read, changed, 1)
    return optional


def _own_number(number: str, optional: str, state: str) -> str:
    """A Spanish card's own number is that of the plastic; the person's NIF follows it."""
    personal = optional.strip("<").split("<")[0]
    return personal if _is_spanish(state) and len(personal) >= 8 else number.strip("<")


def _is_spanish(state: str) -> bool:
    return state.translate(_TO_LETTER) == "ESP"


def _century(birth: str, expiry: str) -> int:
    """Nobody holds a card that expires before their birth."""
    return 2000 if int(birth[:2]) < int(expiry[:2]) and int(birth[:2]) <= 40 else 1900


def _date(text: str, century: int) -> str | None:
    try:
        return date(century + int(text[:2]), int(text[2:4]), int(text[4:6])).isoformat()
    except ValueError:
        return None


def _name(text: str) -> str:
    return " ".join(part for part in text.split("<") if part and not re.fullmatch(r"[CKX]{3,}|[CK]", part))


def _state(code: str) -> str:
    """No check digit covers it, so it must at least look like one: three letters, or Germany's one, a D."""
    if code in ("D", "O", "Q"):
        return "D"
    return code if len(code) == 3 and code.isalpha() else ""
