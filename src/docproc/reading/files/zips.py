"""ZIP directories, read only when their size is sane: a hostile one may be hundreds of megabytes."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import BinaryIO

from docproc.errors import UnreadableFileError
from docproc.reading.files.trouble import Code, damage_named, too_many_files

_END = b"PK\x05\x06"
_END64_LOCATOR = b"PK\x06\x07"
_BYTES_PER_MEMBER = 4096  # an entry is 46 bytes, its name and some extras
SMALL_BYTES = 10 * 1024**2  # nothing that unpacks to less is a bomb


def open_zip(path: Path, most_members: int) -> zipfile.ZipFile:
    with damage_named("ZIP archive", zipfile.BadZipFile, zipfile.LargeZipFile):
        with path.open("rb") as file:
            directory_bytes = _directory_bytes(file)
        if directory_bytes > most_members * _BYTES_PER_MEMBER:
            raise too_many_files(most_members)
        return zipfile.ZipFile(path)


def _directory_bytes(file: BinaryIO) -> int:
    """What the records at the file's end say of the directory before them; 0 where there are none."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 22 - 65535 - 20))  # the end record, its comment, and the ZIP64 locator before it
    tail = file.read()
    end = tail.rfind(_END)
    if end < 0:
        return 0
    if tail[end - 20 : end - 16] == _END64_LOCATOR:
        file.seek(int.from_bytes(tail[end - 12 : end - 4], "little"))
        return int.from_bytes(file.read(56)[40:48], "little")
    return int.from_bytes(tail[end + 12 : end + 16], "little")


def check_no_bomb(archive: zipfile.ZipFile, archive_bytes: int, ratio: int) -> None:
    """Refuse members, and archives as a whole, that grow beyond all reason; before anything is unpacked.

    Members are read up to the size they declare, so that a lie is an error while reading, not a bomb.
    """
    members = archive.infolist()
    packed = min(sum(member.compress_size for member in members), archive_bytes)  # they may share their bytes
    grown = [(member.file_size, member.compress_size) for member in members]
    for unpacked_bytes, packed_bytes in [*grown, (sum(size for size, _ in grown), packed)]:
        if unpacked_bytes > SMALL_BYTES and unpacked_bytes > ratio * packed_bytes:
            raise UnreadableFileError(
                f"the archive holds {packed_bytes / 1e6:.3g} MB that unpack to {unpacked_bytes / 1e6:.4g} MB,"
                " which looks like an attack",
                code=Code.ARCHIVE_BOMB,
                remedy="Send the documents themselves, not packed",
            )
