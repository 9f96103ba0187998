"""Outlook mails (MSG): an OLE file with one storage for each attachment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import olefile

from docproc.reading.files.found import Member
from docproc.reading.files.kinds import unsupported
from docproc.reading.files.mails import decoration_below
from docproc.reading.files.trouble import archive_too_large, damage_named

# MS-OXMSG: a property's stream is named by its tag, the type in the last four digits.
_DATA = "__substg1.0_37010102"
_ATTACHED_MAIL = "__substg1.0_3701000D"
_PROPERTIES = "__properties_version1.0"
_NAMES = ("3707", "3704", "3001")  # long name, short name, what is displayed
_CONTENT_ID = "3712"
_HTML = "__substg1.0_10130102"
_CODE_PAGE = b"\x03\x00\xfd\x3f"


def members_of(path: Path) -> Iterator[Member]:
    with damage_named("Outlook mail"):
        ole = olefile.OleFileIO(str(path))
    with ole:
        yield from _members(ole, [])


def _members(ole: olefile.OleFileIO, mail: list[str]) -> Iterator[Member]:
    with damage_named("Outlook mail"):
        storages = sorted(
            {
                entry[len(mail)]
                for entry in ole.listdir(streams=True, storages=True)
                if entry[: len(mail)] == mail and entry[len(mail) :]
            }
        )
        html = _read(ole, [*mail, _HTML]).decode("latin-1").lower()
        members = [
            _member(ole, [*mail, storage], html)
            for storage in storages
            if re.fullmatch(r"__attach_version1\.0_#[0-9A-Fa-f]{8}", storage)
        ]
    yield from members


def _member(ole: olefile.OleFileIO, attachment: list[str], html: str) -> Member:
    names = (_string(ole, attachment, tag) for tag in _NAMES)
    name = next(filter(None, names), f"attachment-{int(attachment[-1][-8:], 16) + 1}")
    attached = [*attachment, _ATTACHED_MAIL]
    if ole.exists([*attached, _PROPERTIES]):
        return Member(name, inside=partial(_members, ole, attached))
    return Member(
        name,
        save=partial(_save, ole, [*attachment, _DATA]),
        decoration_below=decoration_below(_string(ole, attachment, _CONTENT_ID).strip("<>"), html),
    )


def _save(ole: olefile.OleFileIO, stream: list[str], target: Path, room_bytes: int) -> None:
    if not ole.exists(stream):  # a link to a file elsewhere, or an object only Outlook can show
        raise unsupported()
    with damage_named("mail's attachment"):
        content = _read(ole, stream)
    if len(content) > room_bytes:
        raise archive_too_large()
    target.write_bytes(content)


def _read(ole: olefile.OleFileIO, stream: list[str]) -> bytes:
    return bytes(ole.openstream(stream).read()) if ole.exists(stream) else b""


def _string(ole: olefile.OleFileIO, storage: list[str], tag: str) -> str:
    if text := _read(ole, [*storage, f"__substg1.0_{tag}001F"]):
        return text.decode("utf-16-le", "replace").rstrip("\x00")
    text = _read(ole, [*storage, f"__substg1.0_{tag}001E"])
    return text.decode(_encoding(ole), "replace").rstrip("\x00") if text else ""


def _encoding(ole: olefile.OleFileIO) -> str:
    """Of 8-bit text: a code page among the mail's properties, which are rows of 16 bytes."""
    properties = _read(ole, [_PROPERTIES])[32:]
    for start in range(0, len(properties), 16):
        if properties[start : start + 4] == _CODE_PAGE:
            page = int.from_bytes(properties[start + 8 : start + 12], "little")
            return {65001: "utf-8", 20127: "cp1252", 28591: "cp1252"}.get(page, f"cp{page}")
    return "cp1252"
