"""What can be wrong with a film, by a code that clients and the request's `error` show."""

from __future__ import annotations

from enum import StrEnum

from docproc.errors import PermanentError


class Code(StrEnum):
    """Every code that a client of the video server can meet (docs/reference/video-protocol.md)."""

    # the conversation
    BAD_MESSAGE = "bad_message"
    MESSAGE_TOO_LARGE = "message_too_large"
    UNSUPPORTED_VERSION = "unsupported_version"
    NOT_ALLOWED = "not_allowed"
    UNKNOWN_SESSION = "unknown_session"
    BUSY = "busy"
    TIMED_OUT = "timed_out"
    TAKEN_OVER = "taken_over"
    # what is asked for
    UNKNOWN_FILTER = "unknown_filter"
    BAD_PARAMETERS = "bad_parameters"
    TOO_MANY_FILTERS = "too_many_filters"
    UNSUPPORTED_CODEC = "unsupported_codec"
    # the film
    FILM_TOO_LARGE = "film_too_large"
    FILM_TOO_LONG = "film_too_long"
    RESOLUTION_TOO_LARGE = "resolution_too_large"
    CHECKSUM_MISMATCH = "checksum_mismatch"
    CORRUPT_VIDEO = "corrupt_video"
    NO_FRAMES = "no_frames"
    # the machine
    DISK_FULL = "disk_full"
    CANCELLED = "cancelled"
    INTERNAL = "internal"


# Sending the same again later may help; the others need something else to be sent.
RECOVERABLE = frozenset({Code.BUSY, Code.TIMED_OUT, Code.CHECKSUM_MISMATCH, Code.DISK_FULL, Code.INTERNAL})


class VideoError(PermanentError):
    """A film that cannot be taken or made; `code` says why."""

    def __init__(self, message: str, *, code: Code, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.code = str(code)


def is_recoverable(code: str) -> bool:
    """Whether sending the same again later may help."""
    return code in RECOVERABLE
