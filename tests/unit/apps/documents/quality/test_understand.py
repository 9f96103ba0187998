"""What `docproc eval` takes from the functions of the pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from docproc.apps.documents.components.doubts import Standing
from docproc.apps.documents.components.page_groups import Made
from docproc.apps.documents.quality import understand
from docproc.apps.documents.quality.understand import How
from docproc.reading import page as page_text
from docproc.reading.files.found import FoundFile
from docproc.reading.page import PageText, Source


def test_a_document_is_no_surer_than_the_beginning_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "two.pdf"
    file.write_bytes(b"two pages")
    words = page_text.pack(PageText((), Source.TEXT_LAYER))
    made = [
        Made("other", (0,), True, (1.0,), Standing(1.0, 0.6)),
        Made("other", (1,), True, (0.6,), Standing(1.0, 0.6)),
    ]
    monkeypatch.setattr(understand, "unfold", lambda *_: [FoundFile("two.pdf", file, "application/pdf", 2)])
    monkeypatch.setattr(understand, "_read", lambda *_: (words, 0.0))
    monkeypatch.setattr(understand, "group_pages", lambda *_: made)

    understood = understand.understand(file, How(schemas={}))

    assert [document.confidence for document in understood.documents] == [0.6, 0.6]
