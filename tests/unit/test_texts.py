"""The catalogue of texts: every word in both languages, none missing, none left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import docproc
from docproc.errors import ConfigurationError
from docproc.texts import LANGUAGES, Catalogue, choose_language

ROOT = Path(docproc.__file__).parent
FOLDERS = sorted({path.parent for path in ROOT.rglob("texts/*.yaml")})
TEXTS = {
    key: both
    for folder in FOLDERS
    for path in sorted(folder.glob("*.yaml"))
    for key, both in yaml.safe_load(path.read_text(encoding="utf-8")).items()
}


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


# --- what comes with docproc ----------------------------------------------------------------------------


def sources(*patterns: str) -> str:
    found = [path for pattern in patterns for path in sorted(ROOT.rglob(pattern))]
    return "\n".join(path.read_text(encoding="utf-8") for path in found)


TEMPLATES = sources("templates/**/*.html")
# Where Python says texts: a word of a log line or a table elsewhere is none.
PYTHON = "\n".join(
    [
        *(sources(f"{part}/**/*.py") for part in ("console", "http", "people")),
        *(sources(f"apps/documents/{part}/**/*.py") for part in ("exports", "http", "review")),
        *(
            sources(f"apps/documents/{module}")
            for module in ("differences.py", "reasons.py", "texts/names.py")
        ),
    ]
)


@pytest.mark.parametrize("key", TEXTS)
def test_text_has_the_same_values_in_both_languages(key: str) -> None:
    assert set(TEXTS[key]) == set(LANGUAGES)
    catalogue = Catalogue(*FOLDERS)
    english, spanish = (
        [set(re.findall(r"\{(\w+)\}", one)) for one in catalogue.forms(language, key).values()]
        for language in ("en", "es")
    )
    assert english == spanish and english[0] == english[1]
    assert isinstance(TEXTS[key]["en"], str) or "number" in english[0]  # else nothing decides between forms


def test_folders_go_together() -> None:
    assert len(FOLDERS) > 1
    assert set(Catalogue(*FOLDERS)) == set(TEXTS)


def test_texts_that_templates_and_python_name_exist() -> None:
    used = set(re.findall(r"""\bt\(\s*["']([\w]+)["']\s*[,)]""", TEMPLATES))
    used |= set(re.findall(r"""\b_?(?:text|raw)\(\s*\w+(?:\([^()]*\))?,\s*"(\w+)"\s*[,)]""", PYTHON))
    assert len(used) > 200
    assert sorted(used - set(TEXTS)) == []


def composed() -> set[str]:
    """Beginnings of keys whose rest a template or a function adds."""
    ends = r"""["'](\w+_)["']\s*(?:~|\+|[,)])"""
    return set(re.findall(ends, TEMPLATES + PYTHON)) | set(re.findall(r'f"(\w+_|problem: )\{', PYTHON))


def test_no_text_is_left_over() -> None:
    literals = set(re.findall(r"""["'](\w+)["']""", TEMPLATES + PYTHON))
    begun = tuple(composed())
    unused = [key for key in TEXTS if key not in literals and not key.startswith(begun)]
    assert unused == []


# --- what can be wrong with a catalogue -----------------------------------------------------------------


def written(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "words.yaml").write_text(text, encoding="utf-8")
    return folder


def test_texts_of_several_folders_are_one(tmp_path: Path) -> None:
    one = written(tmp_path / "one", "hello: {en: 'Hello {name}', es: 'Hola, {name}'}")
    two = written(
        tmp_path / "two", "hello: {en: 'Hello {name}', es: 'Hola, {name}'}\nstate_late: {en: Late, es: Tarde}"
    )
    catalogue = Catalogue(one, two)
    assert catalogue.text("es", "hello", name="Ana") == "Hola, Ana"
    assert catalogue.raw("en", "hello") == "Hello {name}"
    assert catalogue.beginning("en", "state_") == {"late": "Late"}
    assert "hello" in catalogue and "goodbye" not in catalogue


def test_number_decides_between_one_and_many(tmp_path: Path) -> None:
    text = """
    pages:
      en: {one: "{number} page", other: "{number} pages"}
      es: {one: "{number} página", other: "{number} páginas"}
    files: {en: "Files: {number}", es: "Ficheros: {number}"}
    """
    catalogue = Catalogue(written(tmp_path / "one", text))
    assert [catalogue.text("es", "pages", number=one) for one in (0, 1, "1", 2)] == [
        "0 páginas", "1 página", "1 página", "2 páginas",
    ]  # fmt: skip
    assert catalogue.raw("en", "pages") == "{number} pages"
    assert catalogue.forms("en", "files") == {"one": "Files: {number}", "other": "Files: {number}"}


def test_same_key_with_other_words_is_refused(tmp_path: Path) -> None:
    one = written(tmp_path / "one", "hello: {en: Hello, es: Hola}")
    two = written(tmp_path / "two", "hello: {en: Hi, es: Hola}")
    with pytest.raises(ConfigurationError, match=r"two/words\.yaml: the text 'hello' .*one/words\.yaml"):
        Catalogue(one, two)


@pytest.mark.parametrize(
    "text",
    [
        "hello: {en: Hello}",
        "hello: {en: {one: a}, es: {one: b}}",
        "hello: {en: no, es: 'no'}",
        "hello: Hello",
        "hello: {en: ' ', es: x}",
    ],
)
def test_text_without_one_of_its_languages_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match="'hello' is not in every language"):
        Catalogue(written(tmp_path / "one", text))


@pytest.mark.parametrize("text", ["- a list", "hello: {en"])
def test_file_that_is_no_catalogue_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Catalogue(written(tmp_path / "one", text))
