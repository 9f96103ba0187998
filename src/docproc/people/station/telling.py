"""How pages tell what people did: names of things, values and deeds, in the language of whoever looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request

from docproc.http.pages import pages_of
from docproc.people.kinds import TaskKinds
from docproc.texts import Catalogue


@dataclass(frozen=True, slots=True)
class Telling:
    """With the words of the station and of every application it shows."""

    kinds: TaskKinds
    texts: Catalogue
    language: str

    @classmethod
    def of(cls, request: Request, language: str) -> Telling:
        return cls(request.app.state.desk.kinds, pages_of(request).texts, language)

    def label(self, what: str) -> str:
        """What a change is of: something of a task or person, or what a kind of task knows by that name."""
        name, _, number = what.replace(".", ":").partition(":")
        if name == "shift" and number.isdecimal():
            return self._text("sup_shift", number=int(number) + 1)
        key = f"sup_of_{what}"
        return self._text(key) if key in self.texts else self.kinds.name_of(what, self.language)

    def said(self, value: Any, what: str = "") -> str:
        """A value before or after a change of `what`."""
        if value is None or value == "" or value == []:
            return "—"
        if isinstance(value, bool):
            return self._text("sup_yes" if value else "sup_no")
        if isinstance(value, list):
            return ", ".join(self.said(one, what) for one in value)
        if isinstance(value, dict):
            return " ".join(self.said(one, what) for one in value.values())
        return self.kinds.say(what, value, self.language) or str(value)

    def problem(self, told: str) -> str:
        """The messages people can cause here are known by their English words."""
        return self._known(f"problem: {told}", told)

    def deed(self, kind: str, outcome: str | None) -> str:
        return self._known(f"deed_{kind}_{outcome}", f"{kind}: {outcome or ''}")

    def state(self, name: str) -> str:
        return self._known(f"status_{name}", name)

    def skill(self, name: str) -> str:
        return self.kinds.skill_name(name, self.language)

    def _known(self, key: str, otherwise: str) -> str:
        """What nobody translated as it is written."""
        return self._text(key) if key in self.texts else otherwise

    def _text(self, key: str, **values: object) -> str:
        return self.texts.text(self.language, key, **values)


def span(seconds: float | None) -> str:
    """A length of time, no finer than it matters."""
    if seconds is None:
        return "—"
    whole = round(abs(seconds))
    sign = "−" if seconds < 0 and whole else ""
    if whole < 120:
        return f"{sign}{whole} s"
    if whole < 7200:
        return f"{sign}{whole // 60} min"
    if whole < 172_800:
        return f"{sign}{whole // 3600} h {whole % 3600 // 60} min"
    return f"{sign}{whole // 86_400} d"
