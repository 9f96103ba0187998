"""Pages in columns are read column by column, whichever way their text is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

from docproc.apps.materials.source import reading
from docproc.apps.materials.source.columns import in_reading_order

SENTENCES = [
    f"La frase número {number} dice algo que ocupa más de una línea de la columna." for number in range(60)
]


def draw(path: Path, columns: int) -> Path:
    width = (A4[0] - 100 - 20 * (columns - 1)) / columns
    frames = [Frame(50 + index * (width + 20), 50, width, A4[1] - 100) for index in range(columns)]
    document = BaseDocTemplate(str(path), pagesize=A4)
    document.addPageTemplates(PageTemplate(frames=frames))
    document.build([Paragraph(" ".join(SENTENCES), getSampleStyleSheet()["BodyText"])])
    return path


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("has_poppler", [True, False])
def test_columns_are_read_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int, has_poppler: bool
) -> None:
    if not has_poppler:
        monkeypatch.setattr(reading, "_by_pdftotext", lambda path: None)
    path = draw(tmp_path / "columns.pdf", columns)
    pages, _ = reading.layer_pages(path, 1)
    said = " ".join(pages[0].split())
    found = [sentence for sentence in SENTENCES if sentence in said]
    assert len(found) > 20, said[:300]
    places = [said.index(sentence) for sentence in found]
    assert places == sorted(places)
    assert len(found) >= said.count("La frase número") - 1  # the last one may go on on the next page


def test_a_title_over_both_columns_stays_where_it_is() -> None:
    left = [f"la columna de la izquierda {index:02}" for index in range(8)]
    right = [f"y la de la derecha, línea {index:02}" for index in range(8)]
    title = "Un título que ocupa todo el ancho de la página impresa, de lado a lado"
    page = [title, "", *(f"{one:<36}{other}" for one, other in zip(left, right, strict=True))]
    ordered = in_reading_order("\n".join(page)).split("\n")
    assert [line for line in ordered if line] == [title, *left, *right]


@pytest.mark.parametrize(
    "page",
    [
        "\n".join(f"{name:<30}{number:>6}" for number, name in enumerate(["Población", "Superficie"] * 5)),
        "\n".join(
            f"{index}. Capítulo de un libro ............................ {index}" for index in range(12)
        ),
        "\n".join(
            f"Una línea de prosa que ocupa todo el ancho de la página, número {index}." for index in range(12)
        ),
    ],
)
def test_tables_contents_and_plain_pages_stay_as_they_are(page: str) -> None:
    assert in_reading_order(page) == page
