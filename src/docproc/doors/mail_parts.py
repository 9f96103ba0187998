"""A mail as a door sees it: who sent it, what it is called, and the files in it."""

from __future__ import annotations

import email
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage, Message
from email.utils import getaddresses

from docproc.http.problems import Problem

# Pictures that the text shows below this size are logos and counters; photographs of documents are larger.
SMALLEST_INLINE_BYTES = 20 * 1024
LONGEST_REFERENCE = 255
_BODY_TYPES = ("text/plain", "text/html")


@dataclass(frozen=True, slots=True)
class File:
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    sender: str
    subject: str
    # What its server called it; the same when it is sent twice.
    message_id: str
    # Whether a program wrote it: such mails are never answered, or two programs would write for ever.
    is_automatic: bool
    files: tuple[File, ...]


def read(content: bytes, envelope_sender: str | None = None) -> Mail:
    """Blocking, and in memory at about three times the mail's size. Raises Problem where it is no mail."""
    try:
        message = email.message_from_bytes(content, policy=policy.default)
        files = tuple(_files(message))
        sender = (envelope_sender or _address(message)).lower()
        return Mail(
            sender=sender,
            subject=_text(message, "Subject"),
            message_id=_message_id(message, content),
            is_automatic=_is_automatic(message),
            files=files,
        )
    except (ValueError, LookupError, TypeError, AttributeError, IndexError, RecursionError) as error:
        # What the standard parser raises for headers and parts that are no such thing.
        raise Problem(422, "unreadable_mail", f"the mail cannot be read ({type(error).__name__})") from error


def _files(message: Message) -> Iterator[File]:
    """Attachments and pictures in the text, in their order; an attached mail is a file, too."""
    number = 0
    for part in _leaves(message):
        number += 1
        disposition = part.get_content_disposition()
        name = part.get_filename() or ""
        kind = part.get_content_type()
        if not name and disposition != "attachment" and kind in _BODY_TYPES:
            continue
        content = _content(part)
        is_shown = disposition != "attachment" and part.get_content_maintype() == "image"
        if not content or (is_shown and len(content) < SMALLEST_INLINE_BYTES):
            continue
        yield File(name or f"part-{number}{_suffix(kind)}", content)


def _leaves(message: Message) -> Iterator[Message]:
    if message.get_content_maintype() == "multipart" and message.is_multipart():
        for part in message.get_payload():
            if isinstance(part, Message):
                yield from _leaves(part)
    else:
        yield message


def _content(part: Message) -> bytes:
    if part.get_content_type() == "message/rfc822" and part.is_multipart():
        inner = part.get_payload(0)
        return inner.as_bytes() if isinstance(inner, Message) else b""
    found = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""


def _suffix(kind: str) -> str:
    """The standard library's table knows every type that mails have files of."""
    import mimetypes

    if kind == "message/rfc822":
        return ".eml"
    return mimetypes.guess_extension(kind) or ""


def _text(message: EmailMessage | Message, name: str) -> str:
    return " ".join(str(message.get(name, "")).split())[:500]


def _address(message: Message) -> str:
    found = getaddresses([_text(message, "From")])
    return found[0][1] if found else ""


def _message_id(message: Message, content: bytes) -> str:
    said = re.sub(r"[^!-~]", "", _text(message, "Message-ID"))
    return (said or f"sha256:{hashlib.sha256(content).hexdigest()}")[:LONGEST_REFERENCE]


def _is_automatic(message: Message) -> bool:
    automatic = _text(message, "Auto-Submitted").lower() not in ("", "no")
    bulk = _text(message, "Precedence").lower() in ("bulk", "list", "junk")
    return automatic or bulk or _text(message, "Return-Path") == "<>"
