"""Where a PDF lies: a bucket and a key, read from what an event says and from nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from docproc.apps.materials.errors import MaterialError

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
# bucket.s3.eu-west-1.amazonaws.com, bucket.s3.amazonaws.com
_VIRTUAL_HOST = re.compile(r"(?P<bucket>.+)\.s3(?:[.-][a-z0-9-]+)?\.amazonaws\.com")
# s3.eu-west-1.amazonaws.com/bucket/key
_PATH_HOST = re.compile(r"s3(?:[.-][a-z0-9-]+)?\.amazonaws\.com")
_LONGEST_KEY = 1024  # as S3 has it


@dataclass(frozen=True, slots=True)
class S3Address:
    bucket: str
    key: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


def parse(said: str, *, endpoint: str | None = None) -> S3Address:
    """`s3://bucket/key`, an https:// address of Amazon's, or one below the endpoint that is set.

    Any other host is refused: the service would otherwise fetch whatever an event tells it to. Raises
    MaterialError (`bad_address`).
    """
    url = urlsplit(said)
    path = unquote(url.path.lstrip("/"))
    host = (url.hostname or "").lower()
    if url.scheme == "s3":
        return _checked(url.netloc, path, said)
    if url.scheme == "https" and (found := _VIRTUAL_HOST.fullmatch(host)):
        return _checked(found["bucket"], path, said)
    is_ours = endpoint is not None and url[:2] == urlsplit(endpoint)[:2]
    if is_ours or (url.scheme == "https" and _PATH_HOST.fullmatch(host)):
        bucket, _, key = path.partition("/")
        return _checked(bucket, key, said)
    raise _bad(said, "it is no address of an S3 bucket")


def _checked(bucket: str, key: str, said: str) -> S3Address:
    if not _BUCKET.fullmatch(bucket):
        raise _bad(said, f"{bucket[:80]!r} is no name of a bucket")
    if not key or len(key.encode()) > _LONGEST_KEY:
        raise _bad(said, "the key is empty or longer than 1024 bytes")
    # A key is no path to S3, but gateways in front of it, and those who log it, take it for one.
    if any(part in ("..", ".") for part in key.split("/")) or "\\" in key:
        raise _bad(said, "the key leads out of its folder")
    if any(ord(sign) < 32 or ord(sign) == 127 for sign in key):
        raise _bad(said, "the key has control characters")
    return S3Address(bucket, key)


def _bad(said: str, problem: str) -> MaterialError:
    return MaterialError(
        f"{said[:200]!r} cannot be fetched: {problem}",
        code="bad_address",
        remedy="Send it as s3://bucket/folder/name.pdf",
    )
