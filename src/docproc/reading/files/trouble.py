"""Why a file cannot be read: the codes, and how parsers' many exceptions become one."""

from __future__ import annotations

import errno
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from docproc.errors import UnreadableFileError


class Code(StrEnum):
    EMPTY_FILE = "empty_file"
    UNSUPPORTED_TYPE = "unsupported_type"
    ENCRYPTED = "encrypted"
    WRONG_PASSWORD = "wrong_password"
    DAMAGED = "damaged"
    NO_PAGES = "no_pages"
    TOO_MANY_PAGES = "too_many_pages"
    TOO_MANY_FILES = "too_many_files"
    TOO_LARGE_IMAGE = "too_large_image"
    TOO_LARGE = "too_large"
    ARCHIVE_TOO_LARGE = "archive_too_large"
    ARCHIVE_BOMB = "archive_bomb"
    ARCHIVE_TOO_DEEP = "archive_too_deep"
    NEEDS_LIBREOFFICE = "needs_libreoffice"
    CONVERSION_FAILED = "conversion_failed"


# These say something of the whole request; all others only of one file, whose siblings go on.
OF_THE_REQUEST = frozenset(
    {Code.ARCHIVE_BOMB, Code.ARCHIVE_TOO_LARGE, Code.TOO_MANY_PAGES, Code.TOO_MANY_FILES}
)

ASK_FOR_PASSWORD = 'Send the password as metadata {"password": …}, or the file without protection'

# What parsers written for well-formed files raise on others.
_PARSER_ERRORS: tuple[type[Exception], ...] = (
    OSError, EOFError, SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
    AssertionError, RuntimeError, struct.error, zlib.error,
)  # fmt: skip
# None: a parser's own. The others come from seeking to where a broken file says its data is.
_ERRNO_OF_PARSERS = {None, errno.EINVAL, errno.EOVERFLOW, errno.EFBIG}


@contextmanager
def damage_named(what: str, *others: type[Exception]) -> Iterator[None]:
    """Whatever a parser makes of broken bytes becomes `damaged`; trouble with the disk stays what it is."""
    try:
        yield
    except MemoryError as error:
        raise UnreadableFileError(
            f"the {what} needs more memory than a child process may use",
            code=Code.TOO_LARGE,
            remedy="Send it in smaller parts or raise DOCPROC_CHILD_MEMORY_MB",
        ) from error
    except _PARSER_ERRORS + others as error:
        if isinstance(error, OSError) and error.errno not in _ERRNO_OF_PARSERS:
            raise
        raise damaged(what) from error


def damaged(what: str, how: str = "damaged or incomplete") -> UnreadableFileError:
    return UnreadableFileError(
        f"the {what} is {how}",
        code=Code.DAMAGED,
        remedy="Open it where it was made, save it again and send the new file",
    )


def encrypted(what: str, remedy: str = ASK_FOR_PASSWORD) -> UnreadableFileError:
    return UnreadableFileError(f"the {what} is protected with a password", code=Code.ENCRYPTED, remedy=remedy)


def wrong_password(what: str) -> UnreadableFileError:
    return UnreadableFileError(
        f"the password that was sent does not open the {what}",
        code=Code.WRONG_PASSWORD,
        remedy=ASK_FOR_PASSWORD.replace("the password", "the right password"),
    )


def too_many_pages(most_pages: int) -> UnreadableFileError:
    return UnreadableFileError(
        f"it has more than the {most_pages} pages that the request may still have",
        code=Code.TOO_MANY_PAGES,
        remedy="Send it in smaller parts",
    )


def too_many_files(most_members: int) -> UnreadableFileError:
    return UnreadableFileError(
        f"it holds more than {most_members} files",
        code=Code.TOO_MANY_FILES,
        remedy="Send them in several requests",
    )


def archive_too_large() -> UnreadableFileError:
    return UnreadableFileError(
        "it unpacks to more than is allowed", code=Code.ARCHIVE_TOO_LARGE, remedy="Send it in smaller parts"
    )
