"""The settings of alerts, and the file that changes rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import NoDecode

from docproc.alerts.rules import Above, Below, Level, Rule
from docproc.engine.workflow.definition import Strict
from docproc.errors import ConfigurationError
from docproc.settings import SettingsSection


class AlertSettings(SettingsSection):
    # Off: nothing is watched.
    alerts: Literal["on", "off"] = "on"
    # How often metrics are looked at; five times as often while an alert asks for it.
    alert_interval_seconds: float = Field(default=15, ge=0.2)
    # Thresholds, levels and actions that are different here, by the rule's name.
    alert_rules: Path | None = None
    # Who is told. What is not set is not used; every alert is logged.
    alert_webhook_url: str | None = None
    alert_mail_to: Annotated[tuple[str, ...] | None, NoDecode] = None
    alert_mail_from: str = "docproc@localhost"
    # smtp://user:password@host:port (encrypted if the server can), or smtps:// (encrypted from the start).
    alert_smtp_url: SecretStr | None = None
    # Takes `{"to": …, "text": …}`, one for each number, as gateways for text messages do.
    alert_sms_url: str | None = None
    alert_sms_to: Annotated[tuple[str, ...] | None, NoDecode] = None
    alert_sms_token: SecretStr | None = None
    # How long alerts of level medium are gathered before one mail tells of them.
    alert_gather_minutes: float = Field(default=15, ge=0)
    # When the summary of the day goes out, UTC.
    alert_summary_hour: int = Field(default=7, ge=0, le=23)
    # Where traces go, by OTLP over HTTP: https://collector:4318/v1/traces. Unset: nowhere.
    otel_endpoint: str | None = None

    @field_validator("alerts", mode="before")
    @classmethod
    def _any_case(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @field_validator("alert_mail_to", "alert_sms_to", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @field_validator("alert_webhook_url", "alert_sms_url", "otel_endpoint")
    @classmethod
    def _is_web_address(cls, value: str | None) -> str | None:
        if value is not None and urlsplit(value).scheme not in ("http", "https"):
            raise ValueError("write it as https://host/path")
        return value

    @field_validator("alert_smtp_url")
    @classmethod
    def _is_mail_server(cls, value: SecretStr | None) -> SecretStr | None:
        parts = urlsplit(value.get_secret_value()) if value else None
        if parts is not None and (parts.scheme not in ("smtp", "smtps") or not parts.hostname):
            raise ValueError("write it as smtp://host:port or smtps://host:port")
        return value


class RuleChange(Strict):
    """What a file may say of a rule; what it leaves out stays as it is."""

    enabled: bool = True
    threshold: float | None = None
    level: Level | None = None
    action: str | None = None
    for_seconds: float | None = Field(default=None, ge=0)
    resolve_seconds: float | None = Field(default=None, ge=0)
    least_count: int | None = Field(default=None, ge=1)


class _File(Strict):
    rules: dict[str, RuleChange]


def changed(rules: Sequence[Rule], path: Path | None, actions: Sequence[str]) -> list[Rule]:
    """The rules as a file wants them. Raises ConfigurationError."""
    if path is None:
        return list(rules)
    said = _read(path)
    known = {rule.name for rule in rules}
    for name in said:
        if name not in known:
            raise _wrong(path, f"there is no rule {name!r}", f"Use one of: {', '.join(sorted(known))}")
    kept = [rule for rule in rules if rule.name not in said or said[rule.name].enabled]
    return [_changed(rule, said[rule.name], path, actions) if rule.name in said else rule for rule in kept]


def _changed(rule: Rule, said: RuleChange, path: Path, actions: Sequence[str]) -> Rule:
    values: dict[str, Any] = {
        name: getattr(said, name)
        for name in ("level", "action", "for_seconds", "resolve_seconds", "least_count")
        if getattr(said, name) is not None
    }
    if said.action and said.action not in actions:
        raise _wrong(path, f"there is no action {said.action!r}", f"Use one of: {', '.join(actions)}")
    if said.threshold is not None:
        if not isinstance(rule.condition, Above | Below):
            raise _wrong(path, f"{rule.name} has no threshold", "It compares with the past: leave it out")
        values["condition"] = dataclasses.replace(rule.condition, threshold=said.threshold)
    return dataclasses.replace(rule, **values)


def _read(path: Path) -> dict[str, RuleChange]:
    try:
        return _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8"))).rules
    except (OSError, yaml.YAMLError, UnicodeError) as error:
        raise _wrong(path, f"it cannot be read: {error}", "Check DOCPROC_ALERT_RULES") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        remedy = "Write `rules: {queue_deep: {threshold: 2000}}`"
        raise _wrong(path, f"{where}: {first['msg']}", remedy) from error


def _wrong(path: Path, problem: str, remedy: str) -> ConfigurationError:
    return ConfigurationError(f"{path}: {problem}", remedy=remedy)
