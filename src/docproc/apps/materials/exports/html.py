"""One HTML file that needs nothing else: to read, to print, and to try the quiz."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.exports.words import words_of


def write(summary: Summary, quiz: Quiz) -> bytes:
    page = _template().render(summary=summary, quiz=quiz, words=words_of(summary.language))
    return page.encode()


@cache
def _template() -> Template:
    folder = Path(__file__).parent / "templates"
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,  # what the text and the model say is never markup
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2")
