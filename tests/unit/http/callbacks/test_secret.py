"""The secret that signs: as set, or made once under home."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from docproc.errors import ConfigurationError
from docproc.http.callbacks import signature
from docproc.http.callbacks.secret import FILE, can_sign, check_settings, key_for
from docproc.settings import Settings

POSTGRES = "postgresql://u:p@db/docproc"


def _settings(home: Path, **values: Any) -> Settings:
    return Settings.load(home=home, _env_file=None, **values)


def test_secret_that_is_set_is_used(tmp_path: Path) -> None:
    secret = signature.new_secret()
    for values in ({}, {"database_url": POSTGRES}):
        settings = _settings(tmp_path, callback_secret=secret, **values)
        assert key_for(settings) == signature.key_of(secret)
        assert secret not in repr(settings)
    assert not (tmp_path / FILE).exists()


def test_embedded_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "new"
    first = key_for(_settings(home))
    assert first is not None
    assert key_for(_settings(home)) == first
    assert (home / FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in home.iterdir()] == [FILE]


def test_processes_that_start_at_once_agree_on_one_secret(tmp_path: Path) -> None:
    found: list[bytes | None] = []
    begin = threading.Barrier(8)

    def start() -> None:
        begin.wait()
        found.append(key_for(_settings(tmp_path)))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(found)) == 1


def test_distributed_without_a_secret_cannot_sign(tmp_path: Path) -> None:
    settings = _settings(tmp_path, database_url=POSTGRES)
    assert not can_sign(settings)
    assert key_for(settings) is None
    check_settings(settings)  # that is no mistake as long as nobody wants callbacks


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"callback_secret": "whsec_x"}, "DOCPROC_CALLBACK_SECRET"),
        ({"callback_urls": "a=https://a.example,b=ftp://b.example"}, "DOCPROC_CALLBACK_URLS.*tenant b"),
        ({"callback_urls": "a=http://127.0.0.1/"}, "DOCPROC_CALLBACK_URLS.*private"),
        (
            {"callback_urls": "a=https://a.example", "database_url": POSTGRES},
            "DOCPROC_CALLBACK_SECRET is not",
        ),
    ],
)
def test_settings_that_cannot_work_are_told_before_the_start(
    tmp_path: Path, values: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigurationError, match=problem) as caught:
        check_settings(_settings(tmp_path, **values))
    assert caught.value.remedy


def test_damaged_secret_file_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("nonsense")
    with pytest.raises(ConfigurationError, match=FILE):
        key_for(_settings(tmp_path))


def test_tenants_addresses_come_as_pairs(tmp_path: Path) -> None:
    settings = _settings(tmp_path, callback_urls="a=https://a.example/x?k=1, b=https://b.example,")
    assert settings.callback_urls == {"a": "https://a.example/x?k=1", "b": "https://b.example"}
    with pytest.raises(ConfigurationError, match="tenant=https"):
        _settings(tmp_path, callback_urls="https://a.example")
