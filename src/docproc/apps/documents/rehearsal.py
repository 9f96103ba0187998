"""What child processes do before their first page: the work once, on a sample, so that no page pays for it.

Patterns are compiled, locales and native code are loaded at first use; together that takes seconds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.reading.files.unfold import unfold
from docproc.reading.plain_text import page_of
from docproc.reading.reading import trusted_layer

# What most documents have in common, in both languages: enough to try every pattern and model on.
SAMPLE = """\
FACTURA Nº 2026/0417
Talleres Ejemplo S.L. CIF B12345674 Calle Mayor 1, 28013 Madrid
Fecha: 12/03/2026 Vencimiento: 11/04/2026
Invoice number INV-0417 Date 12 March 2026
Concepto Cantidad Precio Importe
Servicio de mantenimiento 2 50,00 100,00
Base imponible 100,00 IVA 21 % 21,00 TOTAL 121,00 EUR
Total amount due 121.00 IBAN ES91 2100 0418 4502 0005 1332
NÓMINA Trabajador: Ana Ejemplo Muestra NIF 12345678Z
Período de liquidación: del 1 de mayo de 2026 al 31 de mayo de 2026 MAYO 2026
Total devengado 1.828,89 Líquido total a percibir 1.500,00
Pay period May 2026 Gross pay 2,100.00 Net pay 1,700.00"""


def rehearse_files() -> None:
    """Open a file and read its text layer."""
    with tempfile.TemporaryDirectory(prefix="docproc-rehearsal-") as name:
        path = Path(name) / "sample.pdf"
        path.write_bytes(sample_pdf())
        unfold(path, path.name, Path(name) / "unfolded")
        trusted_layer(path, 0)


def rehearse_fields(asked: Sequence[tuple[str, Sequence[FieldSpec]]]) -> None:
    """Look for the fields of these types: the patterns of all fields of a document are compiled together."""
    page = page_of(SAMPLE)
    for doc_type, specs in asked:
        extract(doc_type, specs, [page])


def sample_pdf() -> bytes:
    """The sample as a PDF of one page; without a table of objects, which readers then make themselves."""
    lines = " ".join(f"({_escaped(line)}) Tj T*" for line in SAMPLE.splitlines())
    drawn = f"BT /F 9 Tf 12 TL 40 780 Td {lines} ET".encode("cp1252")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica "
        b"/Encoding /WinAnsiEncoding >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
    )
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, one) for number, one in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer\n<< /Root 1 0 R >>\n%%EOF\n"


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
