"""ZIP archives: their members in the order a person would sort them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from docproc.errors import UnreadableFileError
from docproc.reading.files.found import Limits, Member
from docproc.reading.files.kinds import kind_of_head, unsupported
from docproc.reading.files.names import is_junk, natural_key, readable
from docproc.reading.files.trouble import Code, archive_too_large, damage_named, encrypted, wrong_password
from docproc.reading.files.zips import check_no_bomb, open_zip

_CHUNK_BYTES = 64 * 1024
_ENCRYPTED_FLAG = 0x1
_AES = 99


def members_of(path: Path, limits: Limits, password: str | None) -> Iterator[Member]:
    """The archive's files, without what operating systems leave in them; open while it is iterated."""
    with open_zip(path, limits.members) as archive:
        check_no_bomb(archive, path.stat().st_size, limits.ratio)
        wanted = [info for info in archive.infolist() if not info.is_dir() and not is_junk(info.filename)]
        for info in sorted(wanted, key=lambda info: natural_key(readable(info.filename))):
            yield Member(info.filename, save=partial(_save, archive, info, password))


def _save(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, password: str | None, target: Path, room_bytes: int
) -> None:
    _check_method(info, password)
    try:
        with damage_named("archive's member", zipfile.BadZipFile), _opened(archive, info, password) as source:
            chunk = source.read(_CHUNK_BYTES)
            if chunk and kind_of_head(chunk) is None:  # not worth a place on the disk, however large
                raise unsupported()
            if info.file_size > room_bytes:
                raise archive_too_large()
            with target.open("wb") as file:
                while chunk:
                    file.write(chunk)
                    chunk = source.read(_CHUNK_BYTES)
    except UnreadableFileError as error:
        # The check of the password is one byte: one wrong password in 256 shows only as damage.
        if error.code == Code.DAMAGED and info.flag_bits & _ENCRYPTED_FLAG:
            raise wrong_password("archive") from error
        raise


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo, password: str | None) -> zipfile.ZipExtFile:
    return archive.open(info, pwd=password.encode() if password else None)  # type: ignore[return-value] # read


def _check_method(info: zipfile.ZipInfo, password: str | None) -> None:
    if info.flag_bits & _ENCRYPTED_FLAG and not password:
        raise encrypted("archive")
    if info.compress_type == _AES:
        raise encrypted("archive", "AES encryption cannot be opened here; send it without password")
    # Rarer methods can grow a few bytes to gigabytes in one step of their decoders.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnreadableFileError(
            f"the archive packs it with a rare method ({info.compress_type})",
            code=Code.UNSUPPORTED_TYPE,
            remedy="Pack it again as an ordinary ZIP",
        )
