"""Downloads a PDF from S3 with the credentials that the machine has: environment, container, instance
role."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from functools import lru_cache
from typing import Any, TypeVar

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from docproc.apps.materials.errors import MaterialError, SourceDownError
from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.materials.source.address import S3Address
from docproc.engine.blobs import CHUNK
from docproc.engine.blobstores.s3 import credentials
from docproc.engine.blobstores.s3_trouble import told
from docproc.errors import UnusableStorageError

T = TypeVar("T")

# What uploaders say of a PDF; those who do not know say the last two.
_TYPES = ("application/pdf", "application/x-pdf", "application/octet-stream", "binary/octet-stream")
# The workflow's own table says when to try again: the library must not try in between.
_NO_RETRIES: Any = {"max_retries": 0}
# Buckets whose connections are kept.
_STORES = 16


async def download(address: S3Address, settings: MaterialsSettings) -> AsyncIterator[bytes]:
    """The file in pieces, its size and type checked before the first one.

    Raises SourceDownError where trying again may help, MaterialError (`too_large`, `no_pdf`, `no_access`)
    where it will not.
    """
    store = _store(address.bucket, settings)
    found = await _call(address, obstore.get, store, address.key)
    _check(address, found.meta["size"], str(found.attributes.get("Content-Type", "")), settings.max_bytes)
    pieces = iter(found.stream(min_chunk_size=CHUNK))
    while piece := await _call(address, next, pieces, None):
        yield bytes(piece)


def _store(bucket: str, settings: MaterialsSettings) -> S3Store:
    return _opened(bucket, settings.materials_s3_endpoint, os.environ.get("AWS_PROFILE"))


@lru_cache(maxsize=_STORES)
def _opened(bucket: str, endpoint: str | None, profile: str | None) -> S3Store:
    """Kept: opening one takes milliseconds, and its connections are of use to the next file. It renews
    credentials that end by itself."""
    given: dict[str, Any] = {"endpoint": endpoint} if endpoint else {}
    return S3Store(
        bucket,
        retry_config=_NO_RETRIES,
        client_options={"allow_http": (endpoint or "").startswith("http://"), "connect_timeout": "5s"},
        **given,
        **credentials(),
    )


def _check(address: S3Address, size: int, content_type: str, max_bytes: int) -> None:
    if size > max_bytes:
        raise MaterialError(
            f"{address} has {size / 1024**2:.0f} MB; at most {max_bytes / 1024**2:g} MB are taken",
            code="too_large",
            remedy="Split it, or raise DOCPROC_MATERIALS_MAX_MB",
        )
    kind = content_type.partition(";")[0].strip().lower()
    if kind and kind not in _TYPES:
        raise MaterialError(
            f"{address} is {kind[:80]}, not a PDF", code="no_pdf", remedy="Upload it as application/pdf"
        )


async def _call(address: S3Address, function: Callable[..., T], *args: Any) -> T:
    """In a thread (docproc.engine.blobstores.s3 says why), with the library's errors as ours."""
    try:
        return await asyncio.to_thread(function, *args)
    except FileNotFoundError as error:
        # The event may be faster than the upload it tells of.
        raise SourceDownError(f"{address} is not there", remedy="Check the key and the bucket") from error
    except BaseError as error:
        trouble = told(error, str(address))
        if isinstance(trouble, UnusableStorageError):
            raise MaterialError(str(trouble.args[0]), code="no_access", remedy=trouble.remedy) from error
        raise SourceDownError(str(trouble.args[0])) from error
