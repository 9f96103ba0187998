"""The only reader of the environment: DOCPROC_* variables and `.env`, validated once at the edge."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from importlib.metadata import entry_points
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from docproc.errors import ConfigurationError

# The entry point group of transports: how messages travel is chosen by name.
TRANSPORTS = "docproc.transports"

# The specification's addresses; they apply once a deployment says it is distributed.
SPECIFIED_DATABASE_URL = "postgresql+asyncpg://docproc:docproc@localhost:5432/docproc"
SPECIFIED_RABBITMQ_URL = "amqp://guest:guest@localhost:5672/"
SPECIFIED_REDIS_URL = "redis://localhost:6379/0"
# Transports that carry copies of rows through a server, which several machines reach.
DISTRIBUTED = ("rabbitmq", "redis")


def user_data_folder() -> Path:
    """The per-user folder of embedded data, by each platform's custom."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "docproc"
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/docproc"
    return Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local/share")) / "docproc"


class SettingsSection(BaseSettings):
    """A group of DOCPROC_* variables. Each application may have one: `settings.section(ItsSection)`."""

    model_config = SettingsConfigDict(
        env_prefix="DOCPROC_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )


class _Secrets(SettingsSection):
    """Where secrets lie as files: known before anything else is read."""

    secrets_dir: Path = Path("/run/secrets")


S = TypeVar("S", bound=SettingsSection)


class Settings(SettingsSection):
    """What every process reads. With no URL set it runs embedded: SQLite, the sql transport, one machine."""

    # As given to `load`, for the sections of applications; and those that were read.
    _given: dict[str, Any] = PrivateAttr(default_factory=dict)
    _sections: dict[type[SettingsSection], SettingsSection] = PrivateAttr(default_factory=dict)

    # specified (spec §10.1)
    component_name: str = "unknown"
    rabbitmq_url: str | None = None
    database_url: str | None = None
    health_port: int = Field(default=8080, ge=0, le=65535)
    prefetch_count: int = Field(default=1, ge=1)
    message_ttl_ms: int = Field(default=300_000, ge=100)
    default_sla_seconds: float = Field(default=60, gt=0)
    backoffice_task_timeout_seconds: float = Field(default=120, gt=0)
    storage_path: Path = Path("/tmp/docproc/storage")
    workflows_dir: Path = Path("config/workflows")

    # how it runs
    # The applications that this process knows; unset: all that are installed.
    applications: Annotated[tuple[str, ...] | None, NoDecode] = None
    # An installed transport; unset: `rabbitmq` or `redis` where its address is set, else `sql`.
    transport: str | None = None
    redis_url: str | None = None
    # Files elsewhere than in a folder: the scheme names an installed blob store.
    storage_url: str | None = None
    # Where an S3-compatible store listens that is not Amazon's.
    storage_endpoint: str | None = None
    # Encrypts files before they are stored; the first of several keys writes, all of them read.
    storage_key: SecretStr | None = None
    storage_key_file: Path | None = None
    # Whether files that were stored before there was a key are still read.
    storage_allow_plain: bool = False
    # Files from elsewhere, or decrypted, that are kept under home for native code to read.
    storage_cache_mb: int = Field(default=2048, ge=1)
    home: Path = Field(default_factory=user_data_folder)
    host: str = "127.0.0.1"
    worker_id: str | None = None
    processes: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1)
    database_connections: int = Field(default=6, ge=2)
    components: Annotated[dict[str, str], NoDecode] = Field(default_factory=dict)
    quorum_queues: bool = False
    # Go on with light stages in the transaction of the stage before; a stage may say `chain: off` for itself.
    chaining: bool = True
    # Share workers between tenants by their weights; off: only bands, deadlines and age decide.
    fair_order: bool = True
    # What has waited so long in a queue gets one turn in sixteen, however much that is more urgent there is.
    aging_seconds: float = Field(default=60, gt=0)
    shutdown_seconds: float = Field(default=30, gt=0)
    retention_days: float = Field(default=30, gt=0)
    child_memory_mb: int = Field(default=4096, ge=64)
    # What one call in a child process may compute, and whether children may reach the network.
    child_cpu_seconds: float = Field(default=600, ge=1)
    child_network: Literal["off", "on"] = "off"
    # Load models before the first message; off where a command should start at once and may need none.
    warm_up: bool = True

    # servers
    # Where `submit`, `status`, `watch` and `cancel` find a running DocProc.
    server: str = "http://127.0.0.1:8000"
    api_port: int = Field(default=8000, ge=0, le=65535)
    backoffice_port: int = Field(default=8001, ge=0, le=65535)
    # Of one server, WebSockets among them. A client may have a body of up to 1 MiB buffered on each.
    max_connections: int = Field(default=3000, ge=10)
    # In staging and production the versions of workflows that were promoted there go before their files.
    environment: Literal["development", "staging", "production"] = "development"
    # Clients that follow requests live, in one API process.
    max_streams: int = Field(default=500, ge=0)
    max_upload_mb: float = Field(default=200, gt=0)
    # Files that clients name by address: how long fetching one may take, and whether from private networks.
    download_timeout_seconds: float = Field(default=60, gt=0)
    download_allow_private: bool = False
    # What happens to doubtful results: ask a person, or let them through marked for review.
    review: Literal["ask", "flag"] = "ask"

    # people
    # Offer tasks to those who are there; anybody can take one either way.
    backoffice_push: bool | Literal["auto"] = "auto"
    # How long an offer stands.
    backoffice_accept_seconds: float = Field(default=20, gt=0)

    # callbacks
    # Signs what is sent to a `callback_url`; unset and embedded: made once and kept under home.
    callback_secret: SecretStr | None = None
    # Where a tenant's answers go when a request names no address.
    callback_urls: Annotated[dict[str, str], NoDecode] = Field(default_factory=dict)
    callback_timeout_seconds: float = Field(default=10.0, gt=0)
    callback_allow_private: bool = False

    # who may come in
    # Off: people say who they are. What listens beyond this machine must be told that it may be open.
    auth: Literal["off", "on"] = "off"
    allow_open: bool = False
    # Calls of one key, token or person in one server process; a tenant's quota may say otherwise.
    calls_per_minute: int = Field(default=6000, ge=1)
    # What `submit`, `status`, `watch` and `cancel` say who they are with: a key, or the file it is in.
    api_key: SecretStr | None = None
    api_key_file: Path | None = None
    # Tokens of an identity provider (a JWK set: a file or an https:// address), or of who shares a secret.
    jwt_issuer: str | None = None
    jwt_audience: str | None = None
    jwt_jwks: str | None = None
    jwt_secret: SecretStr | None = None
    jwt_secret_file: Path | None = None
    jwt_tenant_claim: str = "tenant_id"
    jwt_scope_claim: str = "scope"
    # Opens /metrics from other machines where authentication is on.
    metrics_token: SecretStr | None = None
    session_hours: float = Field(default=12, gt=0)
    session_idle_minutes: float = Field(default=60, gt=0)
    # More names by which browsers reach the servers, besides loopback, `host` and that of `backoffice_url`.
    allowed_hosts: Annotated[tuple[str, ...] | None, NoDecode] = None
    # Addresses or networks whose X-Forwarded-For and X-Forwarded-Proto are believed.
    trusted_proxies: Annotated[tuple[str, ...] | None, NoDecode] = None
    # The review station as browsers reach it, where a proxy hides that; https:// makes cookies secure.
    backoffice_url: str | None = None
    # An OpenID Connect provider to sign in with; off without an issuer.
    oidc_issuer: str | None = None
    oidc_client_id: str | None = None
    oidc_client_secret: SecretStr | None = None
    oidc_create: bool = False

    # A folder of files named like settings, such as `docproc_database_url`: what is neither in the
    # environment nor in `.env` is read there. Containers get secrets so, and no list of processes or
    # variables shows them.
    secrets_dir: Path = _Secrets.model_fields["secrets_dir"].default

    # what it says
    log_level: Literal["debug", "info", "warning", "error", "critical"] = "info"
    log_format: Literal["auto", "json", "console"] = "auto"

    @field_validator("log_level", "log_format", "transport", "review", "auth", "child_network", mode="before")
    @classmethod
    def _any_case(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @field_validator("transport")
    @classmethod
    def _is_installed(cls, value: str | None) -> str | None:
        known = [point.name for point in entry_points(group=TRANSPORTS)]
        if value is not None and value not in known:
            raise ValueError(f"no installed package offers it; there are {', '.join(sorted(known))}")
        return value

    @field_validator("applications", "allowed_hosts", "trusted_proxies", mode="before")
    @classmethod
    def _split_names(cls, value: Any) -> Any:
        """`documents,parcels`, as an environment variable can carry it."""
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @field_validator("components", mode="before")
    @classmethod
    def _split_components(cls, value: Any) -> Any:
        """`name=module.Class,name=module.Class`, as an environment variable can carry it."""
        if not isinstance(value, str):
            return value
        pairs = [item.strip().partition("=") for item in value.split(",") if item.strip()]
        if any(not (name and path) for name, _, path in pairs):
            raise ValueError("write it as name=module.Class, separated by commas")
        return {name.strip(): path.strip() for name, _, path in pairs}

    @field_validator("callback_urls", mode="before")
    @classmethod
    def _split_callback_urls(cls, value: Any) -> Any:
        """`tenant=url,tenant=url`; a comma inside an address is written %2C."""
        if not isinstance(value, str):
            return value
        pairs = [item.strip().partition("=") for item in value.split(",") if item.strip()]
        if any(not (tenant.strip() and url.strip()) for tenant, _, url in pairs):
            raise ValueError("write it as tenant=https://host/path, separated by commas")
        return {tenant.strip(): url.strip() for tenant, _, url in pairs}

    @field_validator("trusted_proxies")
    @classmethod
    def _are_addresses(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for one in value or ():
            ip_network(one)  # raises ValueError, which says what is wrong with it
        return value

    @field_validator("backoffice_url", "storage_endpoint")
    @classmethod
    def _check_url(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("write it as https://host, without a path")
        return value

    @cached_property
    def effective_transport(self) -> str:
        if self.transport:
            return self.transport
        return "rabbitmq" if self.rabbitmq_url else "redis" if self.redis_url else "sql"

    @cached_property
    def effective_rabbitmq_url(self) -> str:
        return self.rabbitmq_url or SPECIFIED_RABBITMQ_URL

    @cached_property
    def effective_redis_url(self) -> str:
        return self.redis_url or SPECIFIED_REDIS_URL

    @cached_property
    def effective_database_url(self) -> str:
        """The database in use: as set, else the specified one when distributed, else a file under home."""
        if self.database_url:
            return _async_url(self.database_url)
        if self.effective_transport in DISTRIBUTED:
            return SPECIFIED_DATABASE_URL
        return f"sqlite+aiosqlite:///{self.home.expanduser().absolute() / 'docproc.db'}"

    @cached_property
    def is_embedded(self) -> bool:
        return self.effective_database_url.startswith("sqlite")

    @cached_property
    def effective_storage_path(self) -> Path:
        """Where files lie: as set; else with the embedded database, or at the specified place."""
        if "storage_path" in self.model_fields_set or not self.is_embedded:
            return self.storage_path.expanduser().absolute()
        return self.home.expanduser().absolute() / "storage"

    @cached_property
    def effective_blobstore(self) -> str:
        """The name of the blob store in use, by the scheme of its address."""
        scheme = urlsplit(self.storage_url or "").scheme
        return "local" if scheme in ("", "file") else scheme

    @cached_property
    def cache_path(self) -> Path:
        """Where files that lie elsewhere are kept while they are read."""
        return self.home.expanduser().absolute() / "cache"

    @cached_property
    def message_ttl_seconds(self) -> float:
        return self.message_ttl_ms / 1000

    def section(self, section: type[S]) -> S:
        """The settings of an application, read once; raises ConfigurationError for a bad value."""
        if section not in self._sections:
            known = {name for name in self._given if name in section.model_fields or name.startswith("_")}
            self._sections[section] = _read(section, {name: self._given[name] for name in known})
        return cast(S, self._sections[section])

    @classmethod
    def load(cls, **overrides: Any) -> Settings:
        """Read the environment; a bad value is reported by variable name, not as a traceback.

        `overrides` may also name settings of applications.
        """
        settings = _read(cls, overrides)
        settings._given.update(overrides)
        if settings.is_embedded and settings.effective_transport in DISTRIBUTED:
            raise ConfigurationError(
                f"the {settings.effective_transport} transport needs PostgreSQL, "
                "and DOCPROC_DATABASE_URL names a SQLite file",
                remedy="Set DOCPROC_DATABASE_URL to a postgresql:// address, or DOCPROC_TRANSPORT=sql",
            )
        return settings


def _read(kind: type[S], overrides: dict[str, Any]) -> S:
    try:
        folder = _Secrets(
            **{name: value for name, value in overrides.items() if name == "_env_file"}
        ).secrets_dir
        if folder.is_dir():  # where there is none, pydantic-settings would warn
            overrides = {"_secrets_dir": folder, **overrides}
        return kind(**overrides)
    except ValidationError as error:
        problems = "; ".join(
            f"DOCPROC_{str(item['loc'][0]).upper()}: {item['msg']}" for item in error.errors()
        )
        raise ConfigurationError(problems, remedy="Correct the environment or .env") from error


def _async_url(url: str) -> str:
    """Accept the everyday spellings `postgresql://` and `sqlite:///` for the async drivers in use."""
    for plain, driver in (
        ("postgresql://", "postgresql+asyncpg://"),
        ("postgres://", "postgresql+asyncpg://"),
        ("sqlite://", "sqlite+aiosqlite://"),
    ):
        if url.startswith(plain):
            return driver + url.removeprefix(plain)
    if not url.startswith(("postgresql+asyncpg://", "sqlite+aiosqlite://")):
        raise ConfigurationError(
            f"DOCPROC_DATABASE_URL {url.split(':', 1)[0]!r} is no supported database",
            remedy="Use postgresql://user:password@host/database or sqlite:///path/to/file.db",
        )
    return url
