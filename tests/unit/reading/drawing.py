"""Pages drawn on the fly: digital ones, scans of them, and scans with a hidden text layer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from docproc.reading import rendering

A4 = (595.0, 842.0)
INVISIBLE = 3

INVOICE = (
    "Factura del Año 2026",
    "Cliente: Núñez y Compañía, S.L.",
    "Dirección: Calle del Almirante 14, Cádiz",
    "Concepto: reparación de la instalación eléctrica",
    "Base imponible 1.020,30 €",
    "Cuota de IVA 214,26 €",
    "Total a pagar 1.234,56 €",
    "Gracias por su confianza en nuestros servicios",
)


def digital(
    path: Path, lines: Sequence[str] = INVOICE, *, size: tuple[float, float] = A4, rotate: int = 0
) -> Path:
    # Reportlab takes the size as shown and swaps the sides of a page that is shown sideways.
    canvas = Canvas(str(path), pagesize=size[::-1] if rotate % 180 else size)
    canvas.setPageRotation(rotate)
    write(canvas, lines, size)
    canvas.showPage()
    canvas.save()
    return path


def write(canvas: Canvas, lines: Sequence[str], size: tuple[float, float] = A4, *, mode: int = 0) -> None:
    for number, line in enumerate(lines):
        text = canvas.beginText(72, size[1] - 90 - 36 * number)
        text.setFont("Helvetica", 16)
        text.setTextRenderMode(mode)
        text.textOut(line)
        canvas.drawText(text)


def scan(folder: Path, lines: Sequence[str] = INVOICE, *, dpi: float = 130) -> Image.Image:
    return rendering.page_image(digital(folder / "to_scan.pdf", lines), 0, dpi=dpi).convert("L")


def saved(image: Image.Image, path: Path) -> Path:
    image.save(path)
    return path


def scanned_pdf(path: Path, image: Image.Image, hidden: Sequence[str] = (), *, top: float = 0) -> Path:
    """A page-filling picture with text that is not seen, `top` points lower than its print."""
    canvas = Canvas(str(path), pagesize=A4)
    canvas.drawImage(ImageReader(image), 0, 0, *A4)
    canvas.translate(0, -top)
    write(canvas, hidden, mode=INVISIBLE)
    canvas.showPage()
    canvas.save()
    return path
