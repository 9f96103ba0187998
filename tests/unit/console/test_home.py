"""The drop page's server side: languages, and nothing unescaped."""

from __future__ import annotations

import pytest

from docproc.console.home import choose_language, render
from docproc.console.home.texts import TEXTS


@pytest.mark.parametrize(
    ("wanted", "accepted", "language"),
    [
        ("es", "en", "es"),
        ("fr", "es-ES,es;q=0.9,en;q=0.8", "es"),
        (None, "en-GB,en;q=0.9,es;q=0.8", "en"),
        (None, "fr,es;q=0.5,en;q=0.7", "en"),
        (None, "de", "en"),
        (None, "es;q=0,en;q=x", "en"),
        (None, "", "en"),
    ],
)
def test_language_is_as_asked_for_else_the_browsers(wanted: str | None, accepted: str, language: str) -> None:
    assert choose_language(wanted, accepted) == language


def test_both_languages_have_the_same_texts() -> None:
    assert list(TEXTS["en"]) == list(TEXTS["es"])
    for name in ("steps", "statuses", "types"):
        assert list(TEXTS["en"][name]) == list(TEXTS["es"][name])


def test_page_has_no_inline_script_and_escapes_names() -> None:
    html = render("es", ["<b>x</b>"])
    assert "<b>" not in html and "&lt;b&gt;x" in html
    assert html.count("<script") == 1 and 'src="/static/drop.js"' in html
    assert "style=" not in html and "onclick" not in html
    assert '<html lang="es">' in html
