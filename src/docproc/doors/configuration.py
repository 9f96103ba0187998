"""The settings of doors. The first setting of each group opens the door; the others say how it behaves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from docproc.engine.store.tenants import DEFAULT
from docproc.settings import SettingsSection


class DoorSettings(SettingsSection):
    # The hot folder: a path, or one for each tenant (`acme=/srv/acme,beta=/srv/beta`).
    inbox_folder: Annotated[dict[str, Path], NoDecode] = Field(default_factory=dict)
    # A file is taken when it has not changed for so long and nobody on this machine has it open for writing.
    inbox_settle_seconds: float = Field(default=2, ge=0)
    inbox_poll_seconds: float = Field(default=1, ge=0.05)
    # How long what was taken stays in `done`; what failed stays until somebody removes it.
    inbox_keep_days: float = Field(default=30, gt=0)

    # The SFTP server: where it listens.
    sftp_port: int | None = Field(default=None, ge=0, le=65535)
    # Where the homes of tenants lie; unset: `sftp` in DOCPROC_HOME.
    sftp_folder: Path | None = None
    # A folder with one file of public keys (authorized_keys) for each tenant, named as the tenant is.
    sftp_keys: Path | None = None

    # The receiver of mail: where it listens.
    smtp_port: int | None = Field(default=None, ge=0, le=65535)
    # A certificate and its key, both PEM: mail can then be sent encrypted (STARTTLS).
    smtp_certificate: Path | None = None
    smtp_certificate_key: Path | None = None
    # A mailbox that is looked into: imaps://user:password@host/INBOX, or imap:// without encryption.
    imap_url: SecretStr | None = None
    imap_poll_seconds: float = Field(default=30, ge=0.1)
    # Who may send, and as which tenant: addresses or @domains, `acme=@acme.example,beta=ana@beta.example`.
    mail_senders: Annotated[tuple[tuple[str, str], ...], NoDecode] = ()
    # Where answers to mails are handed over: smtp://user:password@host:port, or smtps://; unset: none.
    mail_answers_url: SecretStr | None = None
    mail_answers_from: str = "docproc@localhost"

    # The bucket: s3://bucket/prefix, or one for each tenant (`acme=s3://bucket/acme`).
    inbox_bucket: Annotated[dict[str, str], NoDecode] = Field(default_factory=dict)
    # Where an S3-compatible store listens that is not Amazon's.
    inbox_bucket_endpoint: str | None = None
    inbox_bucket_poll_seconds: float = Field(default=5, ge=0.1)

    # Of all doors: the workflow of what says nothing else; unset: the router chooses.
    door_workflow: str | None = None
    # Whether answers are written beside the source (folder, SFTP, bucket). Off: they go to the tenant's
    # callback address, if it has one.
    door_answers: Literal["on", "off"] = "on"

    @field_validator("door_answers", mode="before")
    @classmethod
    def _any_case(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @field_validator("inbox_folder", "inbox_bucket", mode="before")
    @classmethod
    def _by_tenant(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        pairs = [_pair(item) for item in value.split(",") if item.strip()]
        if len({tenant for tenant, _ in pairs}) < len(pairs):
            raise ValueError("a tenant has one place: write it as tenant=place, separated by commas")
        return dict(pairs)

    @field_validator("inbox_bucket")
    @classmethod
    def _are_buckets(cls, value: dict[str, str]) -> dict[str, str]:
        for url in value.values():
            parts = urlsplit(url)
            if parts.scheme != "s3" or not parts.netloc:
                raise ValueError("write it as s3://bucket or s3://bucket/prefix")
        return value

    @field_validator("mail_senders", mode="before")
    @classmethod
    def _senders(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        pairs = [_pair(item) for item in value.split(",") if item.strip()]
        if any("@" not in sender for _, sender in pairs):
            raise ValueError("write addresses as ana@acme.example and whole domains as @acme.example")
        return tuple((tenant, sender.lower()) for tenant, sender in pairs)

    @field_validator("imap_url")
    @classmethod
    def _is_mailbox(cls, value: SecretStr | None) -> SecretStr | None:
        parts = urlsplit(value.get_secret_value()) if value else None
        if parts is not None and (parts.scheme not in ("imap", "imaps") or not parts.hostname):
            raise ValueError("write it as imaps://user:password@host/INBOX")
        return value

    @field_validator("mail_answers_url")
    @classmethod
    def _is_mail_server(cls, value: SecretStr | None) -> SecretStr | None:
        parts = urlsplit(value.get_secret_value()) if value else None
        if parts is not None and (parts.scheme not in ("smtp", "smtps") or not parts.hostname):
            raise ValueError("write it as smtp://host:port or smtps://host:port")
        return value


def _pair(text: str) -> tuple[str, str]:
    """`tenant=value`, or a value of the default tenant's."""
    name, mark, value = text.strip().partition("=")
    return (name.strip(), value.strip()) if mark else (DEFAULT, name.strip())
