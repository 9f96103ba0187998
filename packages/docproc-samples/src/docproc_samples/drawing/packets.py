"""Packets: several documents in one file, as they come through a scanner's feeder."""

from __future__ import annotations

from pathlib import Path
from random import Random

from docproc_samples.drawing import packet_contents, scan
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.labels import LabelledDocument, Sample
from docproc_samples.drawing.layout import Choice, Layout
from docproc_samples.drawing.sheet import Sheet

SCANNED_SHARE = 0.5  # of a mixed packet's documents


def draw_document(sheet: Sheet, kind: str, cast: Cast, layout: Layout) -> LabelledDocument:
    """Draw a document on the next pages of a sheet."""
    before = sheet.page_count
    fields = layout.draw(sheet, cast)
    return LabelledDocument(kind, list(range(before, sheet.page_count)), fields, layout.name)


def packet(
    directory: Path,
    seed: int = 1,
    form: str = "digital",
    language: str = "es",
    *,
    number: int = 1,
    layouts: Choice = "all",
) -> Sample:
    """Write one packet. The first begins with a long invoice and ends with two invoices in a row; of higher
    numbers some have several invoices of one vendor, one worker's payslips, curricula, or anything.

    In a `mixed` one some documents are scanned and the others have their text.
    """
    random = Random(f"packet/{seed}/{language}/{form}/{number}")
    sheet = Sheet()
    documents = [
        draw_document(sheet, part.kind, part.cast, part.layout)
        for part in packet_contents.parts(random, language, layouts, number)
    ]
    content = _in_form(sheet.finish(), documents, form, random)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / packet_name(form, language, number)
    path.write_bytes(content)
    return Sample(path, documents)


def packet_name(form: str, language: str, number: int) -> str:
    """`packet.pdf` for the plainest, others say how they differ: `packet-en-scan.pdf`."""
    parts = ["packet"]
    parts += [language] if language != "es" else []
    parts += [form] if form != "digital" else []
    parts += [f"{number:02d}"] if number > 1 else []
    return "-".join(parts) + ".pdf"


def _in_form(pdf: bytes, documents: list[LabelledDocument], form: str, random: Random) -> bytes:
    if form == "digital":
        return pdf
    if form == "scan":
        return scan.image_pdf(list(scan.scan(pdf, random).values()))
    chosen = random.sample(documents, round(len(documents) * SCANNED_SHARE))
    indices = [index for document in chosen for index in document.page_indices]
    return scan.replace_pages(pdf, scan.scan(pdf, random, indices))
