"""Mails as text (EML): the attachments are the files, the body is not a page."""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from email.errors import HeaderParseError, MessageError
from email.header import decode_header, make_header
from email.message import Message
from functools import partial
from pathlib import Path

from docproc.errors import UnreadableFileError
from docproc.reading.files.found import Member
from docproc.reading.files.trouble import Code, archive_too_large, damage_named, damaged

LARGEST_MAIL_BYTES = 256 * 1024**2  # it is parsed in memory, at about three times its size
SMALLEST_PICTURE = 100  # pixels: below are icons and counters
SMALLEST_INLINE_PICTURE = 800  # shown in the text: logos are below, photographs of documents above


def members_of(path: Path) -> Iterator[Member]:
    if path.stat().st_size > LARGEST_MAIL_BYTES:
        raise UnreadableFileError(
            f"the mail is larger than {LARGEST_MAIL_BYTES // 1024**2} MB",
            code=Code.TOO_LARGE,
            remedy="Send its attachments by themselves",
        )
    with damage_named("mail", MessageError), path.open("rb") as file:
        message = email.message_from_binary_file(file)
    yield from _members(message)


def decoration_below(content_id: str, html: str) -> int:
    """How short a picture's side must be for it to be decoration, given what the text shows."""
    shown = bool(content_id) and f"cid:{content_id}".lower() in html
    return SMALLEST_INLINE_PICTURE if shown else SMALLEST_PICTURE


def _members(message: Message) -> Iterator[Member]:
    with damage_named("mail", MessageError):
        parts = list(_parts(message))
        html = "".join(_text(part) for part in parts if part.get_content_type() == "text/html").lower()
        attachments = [part for part in parts if not _is_body(part)]
        members = [_member(part, html, number) for number, part in enumerate(attachments, 1)]
    yield from members


def _parts(message: Message) -> Iterator[Message]:
    """The leaves; an attached mail is one of them."""
    for part in message.get_payload() if _is_bundle(message) else [message]:
        if isinstance(part, Message):
            yield from _parts(part) if _is_bundle(part) else (part,)


def _is_bundle(part: Message) -> bool:
    return part.get_content_maintype() == "multipart" and part.is_multipart()


def _is_body(part: Message) -> bool:
    """Text without a name, and what mail servers say of delivery."""
    if part.get_content_maintype() == "message":
        return part.get_content_type() != "message/rfc822"
    unnamed = not part.get_filename() and part.get_content_disposition() != "attachment"
    return unnamed and part.get_content_maintype() in {"text", "multipart"}


def _member(part: Message, html: str, number: int) -> Member:
    if part.get_content_type() == "message/rfc822" and part.is_multipart():
        attached = part.get_payload(0)
        return Member(_name(part) or f"mail-{number}.eml", inside=partial(_members, attached))  # type: ignore[arg-type] # its one payload is a message
    content_id = str(part.get("Content-ID", "")).strip().strip("<>")
    return Member(
        _name(part) or f"attachment-{number}",
        save=partial(_save, part),
        decoration_below=decoration_below(content_id, html),
    )


def _save(part: Message, target: Path, room_bytes: int) -> None:
    with damage_named("mail's attachment", MessageError):
        content = part.get_payload(decode=True)
        part.set_payload("")  # each attachment is in memory twice only while it is saved
    if not isinstance(content, bytes):
        raise damaged("mail's attachment")
    if len(content) > room_bytes:
        raise archive_too_large()
    target.write_bytes(content)


def _text(part: Message) -> str:
    content = part.get_payload(decode=True)
    return content.decode("latin-1") if isinstance(content, bytes) else ""


def _name(part: Message) -> str:
    name = part.get_filename() or ""
    if not re.search(r"=\?.+\?=", name):
        return name
    try:
        return str(make_header(decode_header(name)))
    except (HeaderParseError, LookupError, ValueError):
        return name
