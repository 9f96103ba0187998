"""From one file that was sent to the files with pages it holds, through archives and mails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from docproc.errors import UnreadableFileError
from docproc.reading.files import archives, einvoices, images, mails, office, outlook, pdf
from docproc.reading.files.found import FoundFile, Limits, Member, Pages
from docproc.reading.files.kinds import IMAGES, MEDIA_TYPES, OFFICE, UNKNOWN_MEDIA_TYPE, Kind, kind_of
from docproc.reading.files.names import readable
from docproc.reading.files.trouble import OF_THE_REQUEST, Code, too_many_files

__all__ = ["FoundFile", "Limits", "unfold"]

_CONTAINERS = {Kind.ZIP: "archive", Kind.EML: "mail", Kind.MSG: "mail"}
# What the sender can act on, even when it is all that is known of a container.
_TELLING = frozenset({Code.ENCRYPTED, Code.WRONG_PASSWORD, Code.NEEDS_LIBREOFFICE, Code.ARCHIVE_TOO_DEEP})


def unfold(
    path: Path,
    name: str,
    workdir: Path,
    limits: Limits = Limits(),  # noqa: B008 # frozen
    password: str | None = None,
) -> list[FoundFile]:
    """The files with pages in `path`, in an order that depends on its content alone.

    Blocking, and meant for a child process that may be killed: parsers may hang or crash on hostile files.
    New files are written to `workdir` under numbers; repeating the call overwrites them. Raises
    UnreadableFileError when there is no readable page, or when a limit of the whole request is passed.
    """
    workdir.mkdir(parents=True, exist_ok=True)
    unfolding = _Unfolding(path, workdir, limits, password)
    kind = kind_of(path)
    unfolding.take(path, kind, readable(name), depth=1)
    if not any(file.page_count for file in unfolding.found):
        raise unfolding.nothing_readable(_CONTAINERS[kind])
    return unfolding.found


@dataclass
class _Unfolding:
    """One call: what was found so far, and what of the limits is used up."""

    original: Path
    workdir: Path
    limits: Limits
    password: str | None
    found: list[FoundFile] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)  # of the problems in `found`
    paths: int = 0
    members: int = 0
    unpacked_bytes: int = 0
    pages: int = 0

    def take(self, path: Path, kind: Kind, name: str, depth: int) -> None:
        """Add what the file holds to `found`."""
        if kind in _CONTAINERS:
            self._take_members(self._members_of(path, kind), name, depth)
            return
        pages = self._pages_of(path, kind)
        self.pages += pages.count
        media_type = MEDIA_TYPES[Kind.PDF if kind in OFFICE or kind is Kind.XML else kind]
        self.found.append(FoundFile(name, pages.path, media_type, pages.count, pages.notes))

    def _pages_of(self, path: Path, kind: Kind) -> Pages:
        pages_left = self.limits.pages - self.pages
        if kind in IMAGES:
            return images.pages_of(path, kind, self.limits.page_pixels, pages_left)
        if kind is Kind.PDF:
            return pdf.pages_of(path, self._new_path(kind), self.password, pages_left)
        converted = self._new_path(Kind.PDF)
        if kind is Kind.XML:
            einvoices.draw(path, converted)
        else:
            office.convert(path, kind, converted, self.limits)
        pages = pdf.pages_of(converted, self._new_path(Kind.PDF), None, pages_left)
        return Pages(pages.path, pages.count, (f"converted from {kind.upper()}", *pages.notes))

    def _members_of(self, path: Path, kind: Kind) -> Iterator[Member]:
        match kind:
            case Kind.ZIP:
                return archives.members_of(path, self.limits, self.password)
            case Kind.EML:
                return mails.members_of(path)
            case _:
                return outlook.members_of(path)

    def _take_members(self, members: Iterator[Member], name: str, depth: int) -> None:
        if depth > self.limits.depth:
            raise UnreadableFileError(
                f"it is packed in more than {self.limits.depth} archives or mails, one in another",
                code=Code.ARCHIVE_TOO_DEEP,
                remedy="Send the documents themselves, not packed so often",
            )
        for member in members:
            self.members += 1
            if self.members > self.limits.members:
                raise too_many_files(self.limits.members)
            self._take_member(member, f"{name}/{readable(member.name)}", depth + 1)

    def _take_member(self, member: Member, name: str, depth: int) -> None:
        """One member's trouble does not hold up its siblings, unless it concerns the whole request."""
        path = self._new_path("bin")
        kind: Kind | None = None
        try:
            if member.inside is not None:
                kind = Kind.EML
                self._take_members(member.inside(), name, depth)
                return
            kind, path = self._saved(member, path)
            if not self._is_decoration(path, kind, member):
                self.take(path, kind, name, depth)
        except UnreadableFileError as error:
            if error.code in OF_THE_REQUEST:
                raise
            self._add_problem(name, kind, error)
        if not self.found or self.found[-1].path != path:
            path.unlink(missing_ok=True)

    def _saved(self, member: Member, path: Path) -> tuple[Kind, Path]:
        assert member.save is not None
        member.save(path, self.limits.unpacked_bytes - self.unpacked_bytes)
        self.unpacked_bytes += path.stat().st_size
        kind = kind_of(path)
        return kind, path.rename(path.with_suffix(f".{kind}"))

    def _is_decoration(self, path: Path, kind: Kind, member: Member) -> bool:
        if not member.decoration_below or kind not in IMAGES:
            return False
        return images.shorter_side(path, kind) < member.decoration_below

    def _add_problem(self, name: str, kind: Kind | None, error: UnreadableFileError) -> None:
        media_type = UNKNOWN_MEDIA_TYPE if kind is None else MEDIA_TYPES.get(kind, UNKNOWN_MEDIA_TYPE)
        skipped = error.code == Code.UNSUPPORTED_TYPE
        self.found.append(
            FoundFile(name, self.original, media_type, 0, problem=_sentence(error), skipped=skipped)
        )
        self.codes.append(error.code)

    def _new_path(self, suffix: str) -> Path:
        """Named by its position: nothing of an untrusted name reaches the file system."""
        self.paths += 1
        return self.workdir / f"{self.paths:04}.{suffix}"

    def nothing_readable(self, container: str) -> UnreadableFileError:
        holding = "attachment" if container == "mail" else "file"
        if not self.found:
            return UnreadableFileError(
                f"the {container} has no {holding} with pages",
                code=Code.NO_PAGES,
                remedy="Send the documents themselves, or attach them",
            )
        reasons = sorted(set(self.codes) - {Code.UNSUPPORTED_TYPE})
        telling = len(reasons) == 1 and reasons[0] in _TELLING
        told = "; ".join(f"{file.name}: {file.problem}" for file in self.found[:3])
        return UnreadableFileError(
            f"no {holding} of the {container} can be read ({told})",
            code=reasons[0] if telling else Code.NO_PAGES,
            remedy="Send the documents again in a form that can be read",
        )


def _sentence(error: UnreadableFileError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}"
