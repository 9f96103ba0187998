"""Every word of the review station, in each of its languages."""

from __future__ import annotations

from docproc.people.texts import common, queue, sign_in, supervision, work

LANGUAGES = ("es", "en")

# Key -> (English, Spanish). Each subject has a module of its own.
ALL: dict[str, tuple[str, str]] = {
    **common.TEXTS,
    **sign_in.TEXTS,
    **queue.TEXTS,
    **work.TEXTS,
    **supervision.TEXTS,
}


def text(language: str, key: str, **values: object) -> str:
    """A text with its `{values}` filled in."""
    english, spanish = ALL[key]
    return (spanish if language == "es" else english).format(**values)
