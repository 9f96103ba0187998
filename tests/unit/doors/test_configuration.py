"""The settings of doors: places by tenant, senders, and addresses that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from docproc.doors.configuration import DoorSettings
from docproc.doors.service import DOORS, open_doors
from docproc.errors import ConfigurationError
from docproc.settings import Settings


def read(monkeypatch: pytest.MonkeyPatch, **values: str) -> Settings:
    for name, value in values.items():
        monkeypatch.setenv(f"DOCPROC_{name}", value)
    return Settings.load(_env_file=None)


def test_no_door_is_open_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_doors(read(monkeypatch)) == []


def test_one_setting_opens_a_door(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read(
        monkeypatch,
        INBOX_FOLDER="/srv/inbox",
        SFTP_PORT="2222",
        SMTP_PORT="0",
        IMAP_URL="imaps://me:pw@mail.example/INBOX",
        INBOX_BUCKET="s3://bucket/in",
    )
    assert open_doors(settings) == list(DOORS)


def test_places_are_one_or_one_for_each_tenant(monkeypatch: pytest.MonkeyPatch) -> None:
    said = read(monkeypatch, INBOX_FOLDER="acme=/srv/a, beta=/srv/b", INBOX_BUCKET="s3://x").section(
        DoorSettings
    )
    assert said.inbox_folder == {"acme": Path("/srv/a"), "beta": Path("/srv/b")}
    assert said.inbox_bucket == {"default": "s3://x"}


def test_senders_are_addresses_and_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    said = read(monkeypatch, MAIL_SENDERS="@Acme.example, beta=ana@beta.example").section(DoorSettings)
    assert said.mail_senders == (("default", "@acme.example"), ("beta", "ana@beta.example"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("INBOX_FOLDER", "a=/x,a=/y"),
        ("INBOX_BUCKET", "https://bucket"),
        ("MAIL_SENDERS", "everybody"),
        ("IMAP_URL", "https://mail.example"),
        ("MAIL_ANSWERS_URL", "mail.example"),
        ("SFTP_PORT", "99999"),
    ],
)
def test_bad_value_is_told_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"DOCPROC_{name}"):
        open_doors(read(monkeypatch, **{name: value}))
