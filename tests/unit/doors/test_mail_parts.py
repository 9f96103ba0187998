"""Mails that are read without ever raising anything but a Problem, whatever they contain."""

from __future__ import annotations

import contextlib
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docproc.doors import mail_parts
from docproc.http.problems import Problem


def test_attached_mail_is_a_file_and_a_name_may_be_missing() -> None:
    inner = EmailMessage()
    inner["Subject"] = "forwarded"
    inner.set_content("text")
    mail = EmailMessage()
    mail["From"] = "Ana <Ana@Acme.Example>"
    mail.set_content("see below")
    mail.add_attachment(inner)
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf")
    read = mail_parts.read(mail.as_bytes())
    assert read.sender == "ana@acme.example" and [file.name for file in read.files] == [
        "part-2.eml",
        "part-3.pdf",
    ]
    assert read.message_id.startswith("sha256:")
    assert mail_parts.read(mail.as_bytes(), "bob@acme.example").sender == "bob@acme.example"


@pytest.mark.parametrize("header", ["Auto-Submitted: auto-replied", "Precedence: bulk", "Return-Path: <>"])
def test_mails_of_programs_are_known(header: str) -> None:
    assert mail_parts.read(f"From: a@b.example\n{header}\n\nx".encode()).is_automatic


@given(st.binary(max_size=2000), st.integers(0, 400))
def test_no_mail_breaks_the_reader(noise: bytes, place: int) -> None:
    mail = EmailMessage()
    mail["From"] = "a@b.example"
    mail.set_content("x")
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a.pdf")
    whole = mail.as_bytes()
    for content in (noise, whole[:place] + noise + whole[place:]):
        with contextlib.suppress(Problem):
            mail_parts.read(content)
