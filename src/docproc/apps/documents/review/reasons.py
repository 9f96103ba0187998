"""Why a person should look at a field, in their language."""

from __future__ import annotations

from docproc.apps.documents import reasons
from docproc.apps.documents.review.checking import readable_rule
from docproc.apps.documents.texts import text
from docproc.apps.documents.understanding.reason import Code, Reason


def told(reason: Reason | str | None, language: str) -> str:
    """Nothing for no reason; a sentence that was stored without its code is known in English only."""
    if not reason:
        return ""
    if isinstance(reason, str):
        return reason if language == "en" else text(language, "doubt_general")
    if reason.code is Code.RULE_BROKEN:
        return text(language, "doubt_rule", rule=readable_rule(reason.facts["rule"], language))
    return reasons.sentence(reason, language)
