"""Writes OLE files, enough of them to make Outlook mails for tests."""

from __future__ import annotations

import struct
from typing import Union

Tree = dict[str, Union[bytes, "Tree"]]

_SECTOR = 512
_NONE = 0xFFFFFFFF
_END = 0xFFFFFFFE
_FAT = 0xFFFFFFFD
_LEAST = 4096  # shorter streams would live in a file system of their own; here they are padded with zeros


def make_ole(tree: Tree) -> bytes:
    entries: list[list[int | str]] = [["Root Entry", 5, _NONE, _NONE, _NONE, _END, 0]]
    sectors: list[bytes] = []
    chain: list[int] = []  # the FAT

    def store(content: bytes) -> int:
        start = len(sectors)
        pieces = [content[i : i + _SECTOR].ljust(_SECTOR, b"\0") for i in range(0, len(content), _SECTOR)]
        sectors.extend(pieces)
        chain.extend([*range(start + 1, start + len(pieces)), _END])
        return start

    def add(parent: int, children: Tree) -> None:
        last = None
        for name, content in children.items():
            number = len(entries)
            if last is None:
                entries[parent][4] = number
            else:
                entries[last][3] = number
            last = number
            if isinstance(content, dict):
                entries.append([name, 1, _NONE, _NONE, _NONE, 0, 0])
                add(number, content)
            else:
                padded = content.ljust(_LEAST, b"\0")
                entries.append([name, 2, _NONE, _NONE, _NONE, store(padded), len(padded)])

    add(0, tree)
    directory = store(b"".join(map(_entry, entries)))
    fat_start = len(sectors)
    fat_count = next(n for n in range(1, 100) if (fat_start + n) * 4 <= n * _SECTOR)
    numbers = [*chain, *[_FAT] * fat_count]
    numbers += [_NONE] * (fat_count * 128 - len(numbers))
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6,
        0, fat_count, directory, 0, _LEAST, _END, 0, _END, 0, fat_start,
    )  # fmt: skip
    fat_sectors = [*range(fat_start + 1, fat_start + fat_count), *[_NONE] * (109 - fat_count)]
    header += struct.pack("<108I", *fat_sectors)
    return header + b"".join(sectors) + struct.pack(f"<{len(numbers)}I", *numbers)


def _entry(entry: list[int | str]) -> bytes:
    name, kind, left, right, child, start, size = entry
    text = f"{name}\0".encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16xI8x8xIQ", text, len(text), kind, 1, left, right, child, 0, start, size
    )  # fmt: skip


def make_msg(attachments: list[Tree], html: str = "") -> Tree:
    mail: Tree = {"__properties_version1.0": bytes(32), "__substg1.0_10130102": html.encode()}
    for number, attachment in enumerate(attachments):
        mail[f"__attach_version1.0_#{number:08X}"] = attachment
    return mail


def make_attachment(name: str, content: bytes | Tree, content_id: str = "") -> Tree:
    attachment: Tree = {
        "__properties_version1.0": bytes(8),
        "__substg1.0_3707001F": name.encode("utf-16-le"),
        "__substg1.0_3712001F": content_id.encode("utf-16-le"),
    }
    attachment["__substg1.0_3701000D" if isinstance(content, dict) else "__substg1.0_37010102"] = content
    return attachment
