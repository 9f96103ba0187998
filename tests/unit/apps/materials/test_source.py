"""The text of a PDF: by pdftotext, by the built-in text layer, by OCR; its words are counted after
cleaning."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from docproc.apps.materials.source import reading
from docproc.apps.materials.source.cleaning import clean, count_words
from docproc.errors import UnreadableFileError
from tests import services, textbooks


def words(pages: list[str]) -> int:
    return sum(map(count_words, pages))


def test_cleaning_removes_what_is_no_text() -> None:
    page = "  12\n\n\n\nLa c\u200bélula\x00 es\xa0la unidad.\r\nFin\ufeff.\n   - 3 de 10 -  \n\n"
    assert clean(page) == "La célula es la unidad.\nFin."


def test_number_inside_a_page_stays() -> None:
    assert clean("Años\n1839\nFin") == "Años\n1839\nFin"
    assert clean("") == clean("\n \n") == ""


def test_only_what_has_letters_or_digits_is_a_word() -> None:
    assert count_words("La célula — 46 cromosomas … (ADN) * -") == 5


@pytest.mark.parametrize("count", [499, 500, 1000])
def test_words_are_counted_exactly(tmp_path: Path, count: int) -> None:
    path = textbooks.draw_words(tmp_path / "words.pdf", count)
    opened = reading.open_pdf(path, tmp_path / "copy.pdf", 100)
    pages, _ = reading.layer_pages(opened.path, opened.pages)
    assert words(pages) == count


def test_pdftotext_is_used_where_it_is_installed(tmp_path: Path) -> None:
    services.require(None if shutil.which("pdftotext") else "no pdftotext (install Debian's poppler-utils)")
    textbooks.draw(tmp_path / "book.pdf")
    pages, reader = reading.layer_pages(tmp_path / "book.pdf", 2)
    assert reader == "pdftotext" and len(pages) == 2
    assert "\n\nLa célula es la unidad estructural" in pages[0]


def test_built_in_reader_gives_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    textbooks.draw(tmp_path / "book.pdf")
    known, _ = reading.layer_pages(tmp_path / "book.pdf", 2)
    monkeypatch.setenv("PATH", str(tmp_path))
    pages, reader = reading.layer_pages(tmp_path / "book.pdf", 2)
    assert reader == "text_layer"
    assert [page.split() for page in pages] == [page.split() for page in known]
    # Headings must be found again: a blank line stands around them.
    assert "\n\nLa célula es la unidad estructural" in pages[0]


def test_scan_is_read_by_ocr(tmp_path: Path) -> None:
    textbooks.draw(tmp_path / "book.pdf")
    path = textbooks.scanned(tmp_path / "scan.pdf", tmp_path / "book.pdf")
    opened = reading.open_pdf(path, tmp_path / "copy.pdf", 100)
    pages, _ = reading.layer_pages(opened.path, opened.pages)
    assert words(pages) == 0
    assert reading.doubtful_pages(pages, 500) == [0, 1]
    found = [reading.recognised(opened.path, index, "rapidocr", pages[index]) for index in (0, 1)]
    assert words(found) >= 500
    assert "membrana" in found[0]


def test_page_whose_text_can_be_believed_is_not_recognised(tmp_path: Path) -> None:
    """OCR counts words otherwise: a text that is too short must not become long enough by it."""
    path = textbooks.draw_words(tmp_path / "words.pdf", 90)
    [page], _ = reading.layer_pages(path, 1)
    assert reading.recognised(path, 0, "no such engine", page) == page
    assert reading.recognised(path, 0, "no such engine", "\ue000\ue001 " * 50).split() == page.split()


def test_garbled_page_is_doubtful_and_a_short_text_is_doubted_whole() -> None:
    good = "La célula es la unidad estructural y funcional de todos los seres vivos. " * 60
    garbled = "\ue000\ue001\ue002 " * 200
    assert reading.doubtful_pages([good, garbled, good, ""], 500) == [1, 3]
    assert reading.doubtful_pages(["La célula.", "Es la unidad."], 500) == [0, 1]


@pytest.mark.parametrize("content", [b"", b"no pdf at all", b"%PDF-1.7\ngarbage\n%%EOF"])
def test_corrupt_file_is_refused_for_good(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.pdf").write_bytes(content)
    with pytest.raises(UnreadableFileError):
        reading.open_pdf(tmp_path / "bad.pdf", tmp_path / "copy.pdf", 100)


def test_file_with_too_many_pages_is_refused(tmp_path: Path) -> None:
    textbooks.draw(tmp_path / "book.pdf", times=2)
    with pytest.raises(UnreadableFileError):
        reading.open_pdf(tmp_path / "book.pdf", tmp_path / "copy.pdf", 2)
