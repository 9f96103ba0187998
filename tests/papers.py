"""Small PDFs with known text, drawn for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pypdfium2
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

INVOICE = (
    "FACTURA",
    "Suministros Vega, S.L.          CIF: B16596447",
    "Factura n.º: F-2026-0042        Fecha: 12/03/2026",
    "Cliente: Gestoría Puerta Nueva, S.A.",
    "Concepto                 Cantidad      Precio      Importe",
    "Papel A4                       10        5,00        50,00",
    "Tóner negro                     2       25,00        50,00",
    "Base imponible                                  100,00 €",
    "IVA 21 %                                         21,00 €",
    "TOTAL FACTURA                                   121,00 €",
)
ID_CARD = (
    "ESPAÑA   DOCUMENTO NACIONAL DE IDENTIDAD",
    "APELLIDOS",
    "BELMONTE IBAÑEZ",
    "NOMBRE",
    "AITANA",
    "NACIONALIDAD   FECHA DE NACIMIENTO",
    "ESP            25 12 1983",
    "DNI NÚM. 39337243K",
)
PAYSLIP = (
    "RECIBO INDIVIDUAL JUSTIFICATIVO DEL PAGO DE SALARIOS (NÓMINA)",
    "Empresa: Asesores Faro Sur, S.L.U.     CIF: B23946627",
    "Trabajador: Óscar Mondéjar Arroyo      NIF: 95894564C",
    "Periodo de liquidación: Agosto 2025",
    "I. DEVENGOS   Salario base                     2.400,00",
    "A. TOTAL DEVENGADO                             2.646,42",
    "II. DEDUCCIONES   IRPF   Contingencias comunes   Seguridad Social",
    "B. TOTAL A DEDUCIR                               742,06",
    "LÍQUIDO TOTAL A PERCIBIR                       1.904,36",
)
LETTER = (
    "Querida Ana:",
    "Te escribo desde la playa, donde llueve desde hace una semana.",
    "Los niños leen, yo pinto y el perro duerme. Volvemos el domingo.",
    "Un abrazo, Clara",
)


def pdf(*pages: Sequence[str]) -> bytes:
    """A digital PDF, one page per text."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842), invariant=1)
    for lines in pages:
        canvas.setFont("Courier", 11)
        for number, line in enumerate(lines):
            canvas.drawString(50, 780 - number * 24, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def picture(page: Sequence[str], *, dpi: int = 150, turn: int = 0) -> Image.Image:
    """The same page as a scanner sees it."""
    document = pypdfium2.PdfDocument(pdf(page))
    image: Image.Image = document[0].render(scale=dpi / 72).to_pil().convert("L")
    document.close()
    return image.rotate(turn, expand=True, fillcolor=255)


def image_bytes(image: Image.Image, form: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def tiff(*pages: Sequence[str], dpi: int = 100) -> bytes:
    first, *rest = [picture(page, dpi=dpi) for page in pages]
    return image_bytes(first, "TIFF", save_all=True, append_images=rest)


def archive(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def save(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path
