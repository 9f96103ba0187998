"""The secret that signs deliveries: as set; embedded, made once and kept under home."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from docproc.errors import CallbackError, ConfigurationError
from docproc.http.callbacks import signature
from docproc.http.callbacks.addresses import checked_url
from docproc.private import FILE_MODE, private_files, private_folder
from docproc.settings import Settings

FILE = "callback.secret"
_MAKE = 'echo "whsec_$(openssl rand -base64 32)"'


def can_sign(settings: Settings) -> bool:
    """Whether there is a secret, or one will be made."""
    return settings.callback_secret is not None or settings.is_embedded


def check_settings(settings: Settings) -> None:
    """Before anything starts. Raises ConfigurationError."""
    if settings.callback_secret is not None:
        _key(settings.callback_secret.get_secret_value(), "DOCPROC_CALLBACK_SECRET")
    if settings.callback_urls and not can_sign(settings):
        raise ConfigurationError(
            "DOCPROC_CALLBACK_URLS is set and DOCPROC_CALLBACK_SECRET is not",
            remedy=f"Set it to the same secret on every gateway; this makes one: {_MAKE}",
        )
    for tenant, url in settings.callback_urls.items():
        try:
            checked_url(url, allow_private=settings.callback_allow_private)
        except CallbackError as error:
            problem = f"DOCPROC_CALLBACK_URLS: {error.args[0]} (tenant {tenant})"
            raise ConfigurationError(problem, remedy=error.remedy) from error


def key_for(settings: Settings) -> bytes | None:
    """The key to sign with, its file made when needed; None: nothing can be sent.

    Raises ConfigurationError.
    """
    if settings.callback_secret is not None:
        return _key(settings.callback_secret.get_secret_value(), "DOCPROC_CALLBACK_SECRET")
    if not settings.is_embedded:
        return None
    path = settings.home.expanduser().absolute() / FILE
    try:
        return _key(_kept(path), str(path))
    except OSError as error:
        remedy = "Make it readable, or set DOCPROC_CALLBACK_SECRET"
        raise ConfigurationError(f"{path} cannot be used: {error.strerror}", remedy=remedy) from error


def secret_of(settings: Settings, tenant_id: str) -> str:
    """What a tenant's receiver verifies deliveries with. Raises ConfigurationError."""
    key = key_for(settings)
    if key is None:
        raise ConfigurationError(
            "there is no secret to sign deliveries with", remedy="Set DOCPROC_CALLBACK_SECRET"
        )
    return signature.secret_for(signature.key_of_tenant(key, tenant_id))


def _key(secret: str, where: str) -> bytes:
    try:
        return signature.key_of(secret)
    except ValueError as error:
        raise ConfigurationError(f"{where}: {error}", remedy=f"This makes one: {_MAKE}") from error


def _kept(path: Path) -> str:
    if not path.exists():
        _keep(path, signature.new_secret())
    private_files([path])  # also one that somebody put there
    return path.read_text(encoding="ascii", errors="replace").strip()


def _keep(path: Path, secret: str) -> None:
    """Linked into place whole: of two processes that start at once, both read the first one's."""
    private_folder(path.parent)
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "w") as file:
            file.write(secret + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
    finally:
        draft.unlink(missing_ok=True)
