"""Mails: attachments are files, the body is not; decoration is left out."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from docproc.errors import UnreadableFileError
from tests.hostile import make_image, make_mail, make_pdf, make_zip, nest_mails
from tests.unit.reading.files.conftest import Unfold
from tests.unit.reading.files.ole import Tree, make_attachment, make_msg, make_ole

PDF = make_pdf()
PHOTO = make_image("PNG", (900, 1200))
LOGO = make_image("PNG", (300, 120))
ICON = make_image("PNG", (60, 60))


def names(unfolded: Unfold, content: bytes) -> list[str]:
    return [file.name for file in unfolded(content, "m")]


def test_attachments_come_in_order_of_appearance(unfolded: Unfold) -> None:
    content = make_mail({"z.pdf": PDF, "a.zip": make_zip({"in.pdf": PDF}), "factura año.pdf": PDF})
    assert names(unfolded, content) == ["m/z.pdf", "m/a.zip/in.pdf", "m/factura año.pdf"]


def test_decoration_is_left_out(unfolded: Unfold) -> None:
    html = '<p>Hola</p><img src="cid:logo"><img src="cid:foto">'
    content = make_mail(
        {"a.pdf": PDF, "icon.png": ICON, "escaneo.png": LOGO}, html=html, images={"logo": LOGO, "foto": PHOTO}
    )
    assert names(unfolded, content) == ["m/foto.png", "m/a.pdf", "m/escaneo.png"]


def test_attached_mail_is_looked_into(unfolded: Unfold) -> None:
    content = nest_mails(3, {"a.pdf": PDF})
    assert names(unfolded, content) == ["m/mail-1.eml/mail-1.eml/a.pdf"]
    assert names(unfolded, make_mail({"fwd.eml": make_mail({"b.pdf": PDF})})) == ["m/fwd.eml/b.pdf"]


def test_mail_that_is_itself_a_document(unfolded: Unfold) -> None:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "scanner@example.com", "scan"
    mail.set_content(PDF, maintype="application", subtype="pdf")
    assert names(unfolded, mail.as_bytes()) == ["m/attachment-1"]


def test_encoded_names_are_decoded(unfolded: Unfold) -> None:
    content = make_mail({"a.pdf": PDF}).replace(b'"a.pdf"', b'"=?utf-8?q?n=C3=B3mina=2Epdf?="')
    assert names(unfolded, content) == ["m/nómina.pdf"]


def test_mbox_style_first_line_is_allowed(unfolded: Unfold) -> None:
    content = b"From a@example.com Mon Jan  1 00:00:00 2026\n" + make_mail({"a.pdf": PDF})
    assert names(unfolded, content) == ["m/a.pdf"]


def test_mail_without_readable_attachment_says_so(unfolded: Unfold) -> None:
    for content in (make_mail({}), make_mail({"a.txt": b"hola"}), make_mail({"icon.png": ICON})):
        with pytest.raises(UnreadableFileError, match="mail") as caught:
            unfolded(content)
        assert caught.value.code == "no_pages"


# --- Outlook ----------------------------------------------------------------------------------------------


def test_outlook_attachments_are_files(unfolded: Unfold) -> None:
    inner = make_msg([make_attachment("dentro.pdf", PDF)])
    mail = make_msg(
        [
            make_attachment("b.pdf", make_pdf(40)),
            make_attachment("logo.png", LOGO, content_id="logo@1"),
            make_attachment("Reenviado", inner),
            make_attachment("ñ.zip", make_zip({"c.pdf": PDF})),
        ],
        html='<img src="cid:logo@1">',
    )
    found = unfolded(make_ole(mail), "m")
    assert [file.name for file in found if not file.problem] == [
        "m/b.pdf",
        "m/Reenviado/dentro.pdf",
        "m/ñ.zip/c.pdf",
    ]
    assert found[0].page_count == 40


def test_outlook_names_in_8_bits_follow_the_code_page(unfolded: Unfold) -> None:
    attachment = make_attachment("", PDF)
    del attachment["__substg1.0_3707001F"]
    attachment["__substg1.0_3704001E"] = "договор.pdf".encode("cp1251")
    mail = make_msg([attachment])
    mail["__properties_version1.0"] = (
        bytes(32) + b"\x03\x00\xfd\x3f" + bytes(4) + (1251).to_bytes(8, "little")
    )
    assert names(unfolded, make_ole(mail)) == ["m/договор.pdf"]


def test_outlook_link_instead_of_a_file_is_told(unfolded: Unfold) -> None:
    link = make_attachment("enlace.pdf", PDF)
    del link["__substg1.0_37010102"]
    found = unfolded(make_ole(make_msg([link, make_attachment("a.pdf", PDF)])), "m")
    assert [file.page_count for file in found] == [0, 1]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_cut_outlook_mails_are_damaged(unfolded: Unfold, share: float) -> None:
    content = make_ole(make_msg([make_attachment("a.pdf", make_pdf(40))]))
    with pytest.raises(UnreadableFileError):
        unfolded(content[: int(len(content) * share)])


def test_locked_and_unknown_ole_files_are_told_apart(unfolded: Unfold) -> None:
    known: dict[str, Tree] = {"encrypted": {"EncryptedPackage": b"x"}, "unsupported_type": {"Other": b"x"}}
    for code, tree in known.items():
        with pytest.raises(UnreadableFileError) as caught:
            unfolded(make_ole(tree))
        assert caught.value.code == code
