"""Settings: specified defaults, environment, `.env`, and which way to run they choose."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from docproc.app import App
from docproc.apps.documents.settings import DocumentsSettings
from docproc.errors import ConfigurationError
from docproc.settings import SPECIFIED_DATABASE_URL, SPECIFIED_RABBITMQ_URL, Settings, user_data_folder

POSTGRES = "postgresql+asyncpg://u:p@db:5432/docproc"
RABBITMQ = "amqp://guest:guest@broker:5672/"
REDIS = "redis://cache:6379/1"

# Specification §10.1: field, default, another value as text, the same value as read.
SPECIFIED: list[tuple[str, Any, str, Any]] = [
    ("component_name", "unknown", "ocr", "ocr"),
    ("rabbitmq_url", None, RABBITMQ, RABBITMQ),
    ("database_url", None, POSTGRES, POSTGRES),
    ("health_port", 8080, "9999", 9999),
    ("prefetch_count", 1, "4", 4),
    ("message_ttl_ms", 300_000, "60000", 60_000),
    ("default_sla_seconds", 60, "30", 30),
    ("classification_confidence_threshold", 0.80, "0.9", 0.9),
    ("extraction_confidence_threshold", 0.75, "0.6", 0.6),
    ("backoffice_task_timeout_seconds", 120, "45", 45),
    ("storage_path", Path("/tmp/docproc/storage"), "/data/files", Path("/data/files")),
    ("workflows_dir", Path("config/workflows"), "/etc/docproc/workflows", Path("/etc/docproc/workflows")),
]
OTHERS: list[tuple[str, Any, str, Any]] = [
    ("transport", None, "sql", "sql"),
    ("redis_url", None, REDIS, REDIS),
    ("host", "127.0.0.1", "0.0.0.0", "0.0.0.0"),
    ("components", {}, "a=m.A, b=n.o.B,", {"a": "m.A", "b": "n.o.B"}),
    ("quorum_queues", False, "true", True),
    ("shutdown_seconds", 30, "5", 5),
    ("retention_days", 30, "7", 7),
    ("child_memory_mb", 4096, "512", 512),
    ("log_level", "info", "debug", "debug"),
    ("log_format", "auto", "json", "json"),
]
EVERY = [*SPECIFIED, *OTHERS]
BY_FIELD = pytest.mark.parametrize(
    ("field", "default", "text", "value"), EVERY, ids=[field for field, *_ in EVERY]
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder: no `.env` of the developer's leaks in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(field: str) -> Any:
    """A setting, of every process or of the documents."""
    settings = Settings.load()
    return getattr(settings.section(DocumentsSettings) if field.endswith("threshold") else settings, field)


@BY_FIELD
def test_variable_has_its_default(field: str, default: Any, text: str, value: Any) -> None:
    assert read(field) == default


@BY_FIELD
def test_variable_is_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, field: str, default: Any, text: str, value: Any
) -> None:
    monkeypatch.setenv(f"DOCPROC_{field.upper()}", text)
    assert read(field) == value


@BY_FIELD
def test_variable_is_read_from_the_env_file(
    folder: Path, field: str, default: Any, text: str, value: Any
) -> None:
    (folder / ".env").write_text(f"# settings\nDOCPROC_{field.upper()}={text}\nUNRELATED=1\n")
    assert read(field) == value


def test_environment_wins_over_the_env_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("DOCPROC_PREFETCH_COUNT=2\nDOCPROC_HEALTH_PORT=7000\n")
    monkeypatch.setenv("DOCPROC_PREFETCH_COUNT", "3")
    settings = Settings.load()
    assert (settings.prefetch_count, settings.health_port) == (3, 7000)


def test_overrides_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_PREFETCH_COUNT", "3")
    assert Settings.load(prefetch_count=4).prefetch_count == 4


def test_variables_without_the_prefix_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "0.0.0.0")
    monkeypatch.setenv("DATABASE_URL", POSTGRES)
    settings = Settings.load()
    assert (settings.host, settings.database_url) == ("127.0.0.1", None)


def test_unknown_variables_of_ours_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_INVENTED_LATER", "1")
    assert not hasattr(Settings.load(), "invented_later")


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings.load().host = "0.0.0.0"  # type: ignore[misc]  # that it is refused is the point


def test_one_process_per_core_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings.load().processes == os.cpu_count()
    monkeypatch.setenv("DOCPROC_PROCESSES", "3")
    assert Settings.load().processes == 3


# --- which way to run -----------------------------------------------------------------------------------


def test_nothing_set_means_embedded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_HOME", str(folder / "home"))
    settings = Settings.load()
    assert settings.is_embedded
    assert settings.effective_transport == "sql"
    assert settings.effective_database_url == f"sqlite+aiosqlite:///{folder}/home/docproc.db"


def test_empty_urls_mean_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_DATABASE_URL", "")
    monkeypatch.setenv("DOCPROC_RABBITMQ_URL", "")
    assert Settings.load().is_embedded


def test_home_may_be_relative_or_of_the_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    assert Settings.load(home=Path("~/x")).effective_database_url.endswith(":////home/ana/x/docproc.db")
    assert Settings.load(home=Path("data")).effective_database_url.endswith(f"{folder}/data/docproc.db")


@pytest.mark.parametrize(
    ("values", "transport", "database", "broker"),
    [
        ({}, "sql", "sqlite+aiosqlite", SPECIFIED_RABBITMQ_URL),
        ({"database_url": POSTGRES}, "sql", POSTGRES, SPECIFIED_RABBITMQ_URL),
        ({"rabbitmq_url": RABBITMQ}, "rabbitmq", SPECIFIED_DATABASE_URL, RABBITMQ),
        ({"rabbitmq_url": RABBITMQ, "database_url": POSTGRES}, "rabbitmq", POSTGRES, RABBITMQ),
        ({"transport": "rabbitmq"}, "rabbitmq", SPECIFIED_DATABASE_URL, SPECIFIED_RABBITMQ_URL),
        ({"transport": "sql", "rabbitmq_url": RABBITMQ}, "sql", "sqlite+aiosqlite", RABBITMQ),
        (
            {"transport": "sql", "rabbitmq_url": RABBITMQ, "database_url": POSTGRES},
            "sql",
            POSTGRES,
            RABBITMQ,
        ),
        ({"redis_url": REDIS}, "redis", SPECIFIED_DATABASE_URL, None),
        ({"redis_url": REDIS, "database_url": POSTGRES}, "redis", POSTGRES, None),
        ({"redis_url": REDIS, "rabbitmq_url": RABBITMQ}, "rabbitmq", SPECIFIED_DATABASE_URL, RABBITMQ),
        ({"transport": "redis"}, "redis", SPECIFIED_DATABASE_URL, None),
        ({"transport": "sql", "redis_url": REDIS}, "sql", "sqlite+aiosqlite", None),
        ({"transport": "sql", "database_url": "sqlite:///x.db"}, "sql", "sqlite+aiosqlite", None),
    ],
)
def test_urls_and_transport_choose_the_way_to_run(
    values: dict[str, Any], transport: str, database: str, broker: str | None
) -> None:
    settings = Settings.load(**values)
    assert settings.effective_transport == transport
    assert settings.effective_database_url.startswith(database)
    assert settings.is_embedded is database.startswith("sqlite")
    assert broker is None or settings.effective_rabbitmq_url == broker


def test_specified_addresses_are_those_of_the_specification() -> None:
    assert SPECIFIED_RABBITMQ_URL == "amqp://guest:guest@localhost:5672/"
    assert SPECIFIED_DATABASE_URL == "postgresql+asyncpg://docproc:docproc@localhost:5432/docproc"


@pytest.mark.parametrize(
    "choice",
    [{"transport": "rabbitmq"}, {"rabbitmq_url": RABBITMQ}, {"transport": "redis"}, {"redis_url": REDIS}],
)
def test_broker_on_sqlite_is_refused(choice: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="needs PostgreSQL") as caught:
        Settings.load(database_url="sqlite:///x.db", **choice)
    assert "DOCPROC_TRANSPORT=sql" in caught.value.remedy


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("postgresql://u:p@h/d", "postgresql+asyncpg://u:p@h/d"),
        ("postgres://u:p@h/d", "postgresql+asyncpg://u:p@h/d"),
        ("postgresql+asyncpg://u:p@h/d?ssl=require", "postgresql+asyncpg://u:p@h/d?ssl=require"),
        ("sqlite:///relative.db", "sqlite+aiosqlite:///relative.db"),
        ("sqlite:////absolute.db", "sqlite+aiosqlite:////absolute.db"),
        ("sqlite+aiosqlite:///x.db", "sqlite+aiosqlite:///x.db"),
    ],
)
def test_everyday_database_urls_get_the_async_driver(written: str, used: str) -> None:
    assert Settings.load(database_url=written).effective_database_url == used


@pytest.mark.parametrize("url", ["mysql://u:secret@h/d", "postgresql+psycopg2://u:secret@h/d", "/var/x.db"])
def test_unsupported_database_is_refused_by_variable_without_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError, match="DOCPROC_DATABASE_URL") as caught:
        Settings.load(database_url=url)
    assert "secret" not in str(caught.value)
    assert "postgresql://" in caught.value.remedy


def test_ttl_is_offered_in_seconds() -> None:
    assert Settings.load(message_ttl_ms=1500).message_ttl_seconds == 1.5


def test_data_folder_follows_the_platform_s_custom(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert user_data_folder() == folder / ".local/share/docproc"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "xdg"))
    assert user_data_folder() == folder / "xdg/docproc"
    monkeypatch.setattr("sys.platform", "darwin")
    assert user_data_folder() == folder / "Library/Application Support/docproc"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(folder / "local"))
    assert user_data_folder() == folder / "local/docproc"


# --- bad values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("HEALTH_PORT", "eighty"),
        ("HEALTH_PORT", "70000"),
        ("HEALTH_PORT", "-1"),
        ("PREFETCH_COUNT", "0"),
        ("PREFETCH_COUNT", "1.5"),
        ("MESSAGE_TTL_MS", "5 min"),
        ("MESSAGE_TTL_MS", "0"),
        ("DEFAULT_SLA_SECONDS", "0"),
        ("DEFAULT_SLA_SECONDS", "soon"),
        ("CLASSIFICATION_CONFIDENCE_THRESHOLD", "80"),
        ("EXTRACTION_CONFIDENCE_THRESHOLD", "-0.1"),
        ("BACKOFFICE_TASK_TIMEOUT_SECONDS", "0"),
        ("TRANSPORT", "kafka"),
        ("PROCESSES", "0"),
        ("COMPONENTS", "just-a-name"),
        ("COMPONENTS", "name="),
        ("COMPONENTS", "=path.Class"),
        ("QUORUM_QUEUES", "perhaps"),
        ("LOG_LEVEL", "loud"),
        ("LOG_FORMAT", "xml"),
        ("SHUTDOWN_SECONDS", "0"),
        ("RETENTION_DAYS", "-1"),
        ("CHILD_MEMORY_MB", "1"),
    ],
)
@pytest.mark.parametrize("source", ["environment", ".env"])
def test_bad_value_is_reported_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, folder: Path, variable: str, text: str, source: str
) -> None:
    if source == "environment":
        monkeypatch.setenv(f"DOCPROC_{variable}", text)
    else:
        (folder / ".env").write_text(f"DOCPROC_{variable}={text}\n")
    with pytest.raises(ConfigurationError) as caught:
        App(Settings.load())
    assert str(caught.value).startswith(f"DOCPROC_{variable}: ")
    assert "Correct the environment or .env" in caught.value.remedy


def test_all_bad_values_are_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_HEALTH_PORT", "x")
    monkeypatch.setenv("DOCPROC_PREFETCH_COUNT", "y")
    with pytest.raises(ConfigurationError, match=r"DOCPROC_HEALTH_PORT: .*; DOCPROC_PREFETCH_COUNT: "):
        Settings.load()


# --- secrets as files -----------------------------------------------------------------------------------


def test_secret_is_read_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docproc_database_url").write_text("postgresql://docproc:secret@db/docproc\n")
    (tmp_path / "DOCPROC_CALLBACK_SECRET").write_text("whsec_abc\n")
    monkeypatch.setenv("DOCPROC_SECRETS_DIR", str(tmp_path))
    settings = Settings.load(_env_file=None)
    assert settings.database_url == "postgresql://docproc:secret@db/docproc"
    assert settings.callback_secret and settings.callback_secret.get_secret_value() == "whsec_abc"


def test_environment_wins_over_a_secrets_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docproc_log_level").write_text("error")
    monkeypatch.setenv("DOCPROC_SECRETS_DIR", str(tmp_path))
    assert Settings.load(_env_file=None).log_level == "error"
    monkeypatch.setenv("DOCPROC_LOG_LEVEL", "debug")
    assert Settings.load(_env_file=None).log_level == "debug"


def test_folder_of_secrets_that_is_not_there_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_SECRETS_DIR", "/nowhere/at/all")
    assert Settings.load(_env_file=None).is_embedded


def test_bad_value_in_a_secrets_file_is_told_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docproc_health_port").write_text("high")
    monkeypatch.setenv("DOCPROC_SECRETS_DIR", str(tmp_path))
    with pytest.raises(ConfigurationError, match="DOCPROC_HEALTH_PORT"):
        Settings.load(_env_file=None)
