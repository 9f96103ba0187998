"""What kind of file it is, judged by its content: names and declared types lie."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import olefile

from docproc.errors import UnreadableFileError
from docproc.reading.files.trouble import Code, damage_named, encrypted
from docproc.reading.files.zips import open_zip

HEAD_BYTES = 8192  # enough for every rule below


class Kind(StrEnum):
    PDF = "pdf"
    TIFF = "tiff"
    PNG = "png"
    JPEG = "jpeg"
    WEBP = "webp"
    HEIC = "heic"
    BMP = "bmp"
    GIF = "gif"
    ZIP = "zip"
    EML = "eml"
    MSG = "msg"
    DOCX = "docx"
    XLSX = "xlsx"
    PPTX = "pptx"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    DOC = "doc"
    XLS = "xls"
    PPT = "ppt"
    RTF = "rtf"
    XML = "xml"  # an electronic invoice; other XML is of no kind
    OLE = "ole"  # old office file or Outlook mail, not yet looked into


MEDIA_TYPES = {
    Kind.PDF: "application/pdf",
    Kind.TIFF: "image/tiff",
    Kind.PNG: "image/png",
    Kind.JPEG: "image/jpeg",
    Kind.WEBP: "image/webp",
    Kind.HEIC: "image/heic",
    Kind.BMP: "image/bmp",
    Kind.GIF: "image/gif",
    Kind.ZIP: "application/zip",
    Kind.EML: "message/rfc822",
    Kind.MSG: "application/vnd.ms-outlook",
    Kind.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    Kind.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Kind.PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    Kind.ODT: "application/vnd.oasis.opendocument.text",
    Kind.ODS: "application/vnd.oasis.opendocument.spreadsheet",
    Kind.ODP: "application/vnd.oasis.opendocument.presentation",
    Kind.DOC: "application/msword",
    Kind.XLS: "application/vnd.ms-excel",
    Kind.PPT: "application/vnd.ms-powerpoint",
    Kind.RTF: "application/rtf",
    Kind.XML: "application/xml",
}
UNKNOWN_MEDIA_TYPE = "application/octet-stream"

IMAGES = frozenset(
    {Kind.TIFF, Kind.PNG, Kind.JPEG, Kind.WEBP, Kind.HEIC, Kind.BMP, Kind.GIF},
)
OFFICE = frozenset(
    {
        Kind.DOCX, Kind.XLSX, Kind.PPTX, Kind.ODT, Kind.ODS, Kind.ODP,
        Kind.DOC, Kind.XLS, Kind.PPT, Kind.RTF,
    }
)  # fmt: skip
ZIPPED_OFFICE = frozenset({Kind.DOCX, Kind.XLSX, Kind.PPTX, Kind.ODT, Kind.ODS, Kind.ODP})

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", Kind.PNG),
    (b"\xff\xd8\xff", Kind.JPEG),
    (b"GIF87a", Kind.GIF),
    (b"GIF89a", Kind.GIF),
    (b"II*\x00", Kind.TIFF),
    (b"MM\x00*", Kind.TIFF),
    (b"II+\x00", Kind.TIFF),  # BigTIFF
    (b"MM\x00+", Kind.TIFF),
    (b"PK\x03\x04", Kind.ZIP),
    (b"PK\x05\x06", Kind.ZIP),  # one without members
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind.OLE),
    (b"{\\rtf", Kind.RTF),
)
_HEIC_BRANDS = {b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"hevm", b"hevs", b"mif1", b"msf1"}
_BMP_HEADERS = {12, 16, 40, 52, 56, 64, 108, 124}
_MAIL_HEADERS = {
    b"from", b"to", b"cc", b"subject", b"date", b"received", b"message-id", b"mime-version", b"content-type",
    b"return-path", b"delivered-to", b"reply-to", b"sender", b"in-reply-to", b"references",
    b"content-transfer-encoding", b"dkim-signature", b"x-mailer",
}  # fmt: skip


def kind_of(path: Path) -> Kind:
    """The file's kind; raises when it is none that DocProc reads. A broken ZIP is still a ZIP."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise UnreadableFileError(
            "the file is empty", code=Code.EMPTY_FILE, remedy="Check where it was made and send it again"
        )
    kind = kind_of_head(head)
    if kind is None:
        raise unsupported()
    if kind is Kind.ZIP:
        return _kind_of_zip(path, head)
    return _kind_of_ole(path) if kind is Kind.OLE else kind


def kind_of_head(head: bytes) -> Kind | None:
    """As far as the first HEAD_BYTES tell: office files and Outlook mails are still ZIP and OLE here."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Kind.WEBP
    if head[4:8] == b"ftyp" and _HEIC_BRANDS & _brands(head):
        return Kind.HEIC
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return Kind.BMP
    if b"%PDF-" in head[:1024]:  # readers allow junk before it
        return Kind.PDF
    if _is_einvoice(head):
        return Kind.XML
    return Kind.EML if _is_mail(head) else None


def _brands(head: bytes) -> set[bytes]:
    end = min(int.from_bytes(head[:4], "big"), 256)
    return {head[start : start + 4] for start in (8, *range(16, end, 4))}


_ROOT = re.compile(rb"<(?:[\w.-]+:)?(\w+)[\s>]")
_INVOICES = {b"CrossIndustryInvoice", b"CrossIndustryDocument", b"Facturae"}
_UBL = b"urn:oasis:names:specification:ubl:schema:xsd:"


def _is_einvoice(head: bytes) -> bool:
    """XML whose root is an invoice of a standard we read: Factur-X, Facturae or UBL."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "ignore").encode()
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    root = _ROOT.search(head) if head.startswith(b"<") else None
    if root is None:
        return False
    return root[1] in _INVOICES or (root[1] in {b"Invoice", b"CreditNote"} and _UBL in head)


def _is_mail(head: bytes) -> bool:
    """Header lines up to the first empty one, at least two of them known from mails."""
    if b"\x00" in head:
        return False
    known = set()
    for number, line in enumerate(head.removeprefix(b"\xef\xbb\xbf").lstrip().splitlines()):
        if not line.strip():
            break
        name, colon, _ = line.partition(b":")
        if colon and re.fullmatch(rb"[!-9;-~]+", name):
            known.add(name.lower())
        elif not line[:1].isspace() and not (number == 0 and line.startswith(b"From ")):
            return False
    return len(known & _MAIL_HEADERS) >= 2


_OPEN_DOCUMENT = {
    b"application/vnd.oasis.opendocument.text": Kind.ODT,
    b"application/vnd.oasis.opendocument.spreadsheet": Kind.ODS,
    b"application/vnd.oasis.opendocument.presentation": Kind.ODP,
}
_OFFICE_PARTS = {
    "word/document.xml": Kind.DOCX,
    "xl/workbook.xml": Kind.XLSX,
    "xl/workbook.bin": Kind.XLSX,
    "ppt/presentation.xml": Kind.PPTX,
}

MOST_OFFICE_PARTS = 10_000


def _kind_of_zip(path: Path, head: bytes) -> Kind:
    # OpenDocument says at a fixed place what it is; Office files have fixed parts, named in the directory
    # at the file's end, which is read only where the beginning suggests one: it may be huge.
    if head[30:38] == b"mimetype":
        declared = head[38:].split(b"PK", 1)[0]
        return next((kind for text, kind in _OPEN_DOCUMENT.items() if declared == text), Kind.ZIP)
    if not re.match(rb"\[Content_Types\]|_rels/|word/|xl/|ppt/|docProps/|customXml/", head[30:60]):
        return Kind.ZIP
    try:
        with open_zip(path, MOST_OFFICE_PARTS) as archive:
            names = archive.NameToInfo
    except UnreadableFileError:  # to be told of when it is opened as an archive
        return Kind.ZIP
    return next((kind for part, kind in _OFFICE_PARTS.items() if part in names), Kind.ZIP)


_OLE_STREAMS = {
    "__properties_version1.0": Kind.MSG,
    "WordDocument": Kind.DOC,
    "Workbook": Kind.XLS,
    "Book": Kind.XLS,
    "PowerPoint Document": Kind.PPT,
}


def _kind_of_ole(path: Path) -> Kind:
    with damage_named("file"), olefile.OleFileIO(str(path)) as ole:
        if ole.exists("EncryptedPackage"):
            raise encrypted("office document", "Send it without password, or as PDF")
        kinds = [kind for stream, kind in _OLE_STREAMS.items() if ole.exists(stream)]
    if not kinds:
        raise unsupported()
    return kinds[0]


def unsupported() -> UnreadableFileError:
    return UnreadableFileError(
        "it is not a kind of file DocProc reads",
        code=Code.UNSUPPORTED_TYPE,
        remedy="Send a PDF, a picture, an office document, an electronic invoice, a mail or a ZIP of them",
    )
