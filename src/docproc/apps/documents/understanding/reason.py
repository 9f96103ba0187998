"""Why a person should look at a value: a code and its facts. Sentences are made of them where they are shown,
in the reader's language (`docproc.apps.documents.reasons`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Code(StrEnum):
    """What can be wrong. Codes are stored and answered: they may be added, but not renamed."""

    # Of a value alone. Facts: `value`; `kind` is the validator that failed.
    EMPTY = "empty"
    CHECK_DIGITS = "check_digits"  # kind
    MALFORMED = "malformed"  # kind
    NO_SUCH_PROVINCE = "no_such_province"
    NOBODYS_TAX_ID = "nobodys_tax_id"
    NOT_A_DATE = "not_a_date"
    UNLIKELY_DATE = "unlikely_date"  # year
    IN_THE_FUTURE = "in_the_future"
    NOT_AN_AMOUNT = "not_an_amount"
    NOT_FINITE = "not_finite"
    NOT_POSITIVE = "not_positive"
    NOT_A_CURRENCY = "not_a_currency"
    NO_ZONE = "no_zone"
    ZONE_CHECK_DIGITS = "zone_check_digits"
    # Of a value and what its schema says. Facts: `value`, `field`.
    PATTERN = "pattern"
    NOT_AMONG = "not_among"  # options
    BELOW = "below"  # limit
    ABOVE = "above"  # limit
    NOT_COMPARABLE = "not_comparable"  # type
    # Of what several sources say. Facts: `first` says `value`, `second` says `other`.
    SOURCES_DIFFER = "sources_differ"
    ZONE_CHECK_DIGIT = "zone_check_digit"  # part: the field whose own digit fails
    # Of several fields. Facts: `rule`, as the workflow has it, and `said`, the values.
    RULE_BROKEN = "rule_broken"


@dataclass(frozen=True, slots=True)
class Reason:
    """Facts are texts that need no translation: values, names of fields, keys of sources."""

    code: Code
    facts: Mapping[str, str] = field(default_factory=dict)
