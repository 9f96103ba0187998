"""Office documents: through LibreOffice, with a time limit, and nothing left running."""

from __future__ import annotations

import http.server
import io
import multiprocessing
import os
import signal
import threading
import time
import zipfile
from pathlib import Path
from typing import ClassVar

import openpyxl
import psutil
import pypdfium2
import pytest

from docproc.errors import UnreadableFileError
from docproc.reading.files.office import find_libreoffice
from docproc.reading.files.unfold import Limits, unfold
from tests import services
from tests.hostile import make_zip
from tests.unit.reading.files.conftest import Unfold

needs_libreoffice = pytest.mark.usefixtures("libreoffice")


@pytest.fixture
def libreoffice() -> None:
    services.require(None if find_libreoffice() else "LibreOffice is not installed")


_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def make_xlsx() -> bytes:
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.worksheets[0]["A1"] = "Total"
    book.save(buffer)
    return buffer.getvalue()


def make_odt(body: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml",
            f'<office:document-content xmlns:office="{_OFFICE}:office:1.0" xmlns:text="{_OFFICE}:text:1.0"'
            ' xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2"><office:body><office:text>'
            f"{body}</office:text></office:body></office:document-content>",
        )
        archive.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{_OFFICE}:manifest:1.0"><manifest:file-entry'
            ' manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
            '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
            "</manifest:manifest>",
        )
    return buffer.getvalue()


def make_docx() -> bytes:
    types = "http://schemas.openxmlformats.org"
    return make_zip(
        {
            "[Content_Types].xml": (
                f'<Types xmlns="{types}/package/2006/content-types"><Default Extension="rels" ContentType='
                '"application/vnd.openxmlformats-package.relationships+xml"/>'
                '<Override PartName="/word/document.xml" ContentType='
                '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>'
                "</Types>"
            ).encode(),
            "_rels/.rels": (
                f'<Relationships xmlns="{types}/package/2006/relationships"><Relationship Id="rId1" Type='
                f'"{types}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
                "</Relationships>"
            ).encode(),
            "word/document.xml": (
                f'<w:document xmlns:w="{types}/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Hola</w:t>'
                "</w:r></w:p></w:body></w:document>"
            ).encode(),
        }
    )


@pytest.fixture
def fake_libreoffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A LibreOffice that does nothing for a long time, and says under which number."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program, note = folder / "soffice", tmp_path / "pid"
    program.write_text(f"#!/bin/sh\nsleep 100 &\necho $! > {note}.new\nmv {note}.new {note}\nwait\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return note


def ends_within(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


@needs_libreoffice
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (make_docx(), "DOCX"),
        (make_xlsx(), "XLSX"),
        (make_odt("<text:p>Hola</text:p>"), "ODT"),
        (rb"{\rtf1 Hola}", "RTF"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_office_documents_become_pdf(unfolded: Unfold, tmp_path: Path, content: bytes, kind: str) -> None:
    (found,) = unfolded(content, "-x.bin")
    assert (found.media_type, found.page_count) == ("application/pdf", 1)
    assert found.notes == (f"converted from {kind}",)
    assert list((tmp_path / "work").iterdir()) == [found.path]


@needs_libreoffice
def test_document_cannot_show_files_of_this_machine(unfolded: Unfold, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRETO")
    content = make_odt(
        f'<text:section text:name="s"><text:section-source xlink:href="file://{secret}"'
        ' text:filter-name="Text"/><text:p>antes</text:p></text:section>'
    )
    with pypdfium2.PdfDocument(unfolded(content)[0].path) as pdf:
        text = pdf[0].get_textpage().get_text_range()
    assert "antes" in text
    assert "SECRETO" not in text


class _Listening(http.server.BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_error(404)

    do_HEAD = do_OPTIONS = do_PROPFIND = do_GET  # noqa: N815 # the names the base class calls

    def log_message(self, format: str, *args: object) -> None:
        pass


@needs_libreoffice
def test_conversion_asks_for_nothing_over_the_network(unfolded: Unfold) -> None:
    # Without BlockUntrustedRefererLinks in the profile, LibreOffice does fetch it.
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Listening) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        found = unfolded(
            make_odt(
                f'<text:p>a<draw:frame xmlns:draw="{_OFFICE}:drawing:1.0" text:anchor-type="as-char">'
                f'<draw:image xlink:href="http://127.0.0.1:{server.server_port}/x.png" xlink:type="simple"'
                ' xlink:show="embed" xlink:actuate="onLoad"/></draw:frame></text:p>'
            )
        )
        server.shutdown()
        thread.join()
    assert found[0].page_count == 1
    assert _Listening.asked == []


def test_without_libreoffice_the_error_says_so(unfolded: Unfold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for content in (make_docx(), make_zip({"a.docx": make_docx()})):
        with pytest.raises(UnreadableFileError) as caught:
            unfolded(content)
        assert caught.value.code == "needs_libreoffice"


def test_bomb_dressed_as_document_is_refused_unopened(unfolded: Unfold, fake_libreoffice: Path) -> None:
    content = make_zip({"[Content_Types].xml": b"", "word/document.xml": bytes(30 * 1024**2)}, level=9)
    with pytest.raises(UnreadableFileError) as caught:
        unfolded(content)
    assert caught.value.code == "archive_bomb"
    assert not fake_libreoffice.exists()


def test_endless_conversion_is_ended_with_its_children(unfolded: Unfold, fake_libreoffice: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"longer than 0\.5 seconds") as caught:
        unfolded(make_docx(), limits=Limits(convert_seconds=0.5))
    assert caught.value.code == "conversion_failed"
    assert ends_within(int(fake_libreoffice.read_text()), 2)


def test_conversion_ends_when_its_caller_is_killed(fake_libreoffice: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(make_docx())
    context = multiprocessing.get_context("spawn")
    caller = context.Process(target=unfold, args=(path, "a.docx", tmp_path / "work"))
    caller.start()
    end = time.monotonic() + 20
    while not fake_libreoffice.exists() and time.monotonic() < end:
        time.sleep(0.02)
    pid = int(fake_libreoffice.read_text())
    assert caller.pid is not None
    os.kill(caller.pid, signal.SIGKILL)
    caller.join()
    caller.close()
    assert ends_within(pid, 2)


def test_failed_conversion_is_told(unfolded: Unfold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "soffice").write_text("#!/bin/sh\nexit 0\n")
    (folder / "soffice").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    with pytest.raises(UnreadableFileError) as caught:
        unfolded(make_docx())
    assert caught.value.code == "conversion_failed"
    assert list((tmp_path / "work").iterdir()) == []
