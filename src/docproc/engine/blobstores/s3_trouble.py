"""What a bucket's refusals mean to whoever runs DocProc."""

from __future__ import annotations

import re

from obstore.exceptions import PermissionDeniedError, UnauthenticatedError

from docproc.errors import DocProcError, StorageDownError, UnusableStorageError

_CODE = re.compile(r"<Code>(\w+)</Code>")
_CREDENTIALS = (
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role; it needs s3:GetObject, "
    "s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload and s3:ListBucket"
)
# The server's own words that say it better than the status: (what is wrong, what to do).
_REFUSALS = {
    "NoSuchBucket": (
        "there is no such bucket",
        "Make it, or correct DOCPROC_STORAGE_URL, and DOCPROC_STORAGE_ENDPOINT if it is not at Amazon",
    ),
    "InvalidAccessKeyId": ("the access key is not known there", _CREDENTIALS),
    "SignatureDoesNotMatch": ("the secret key is wrong", _CREDENTIALS),
    "ExpiredToken": ("the session's token has ended", "Renew AWS_SESSION_TOKEN, or give this machine a role"),
    "RequestTimeTooSkewed": ("this machine's clock is wrong", "Set it by NTP"),
    "PermanentRedirect": ("the bucket lies in another region", "Set AWS_REGION to it"),
    "AuthorizationHeaderMalformed": ("the bucket lies in another region", "Set AWS_REGION to it"),
}
_REFUSED = ("access is refused", _CREDENTIALS)


def is_missing_bucket(error: Exception) -> bool:
    """A missing blob is ordinary, and reads almost alike."""
    return _code(error) == "NoSuchBucket"


def told(error: Exception, place: str) -> DocProcError:
    """One of our errors, in one line: what is wrong with access is for an operator, all else passes."""
    refusal = _REFUSALS.get(_code(error) or "")
    if refusal is None and isinstance(error, PermissionDeniedError | UnauthenticatedError):
        refusal = _REFUSED
    if refusal is None and "NoCredentials" in str(error):
        refusal = ("no credentials were found", _CREDENTIALS)
    if refusal is not None:
        return UnusableStorageError(f"{place} cannot be used: {refusal[0]}", remedy=refusal[1])
    return StorageDownError(f"{place} does not answer as it should: {_first_line(error)}")


def _code(error: Exception) -> str | None:
    found = _CODE.search(str(error))
    return found[1] if found else None


def _first_line(error: Exception) -> str:
    """Without the library's many lines of how it came about."""
    return str(error).partition("\n")[0][:300]
