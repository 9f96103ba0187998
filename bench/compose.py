"""A compose file's services as processes of this machine: its commands and settings, without containers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}|\$(\$)")


@dataclass(frozen=True)
class Service:
    """As its container would start it."""

    name: str
    command: list[str]
    environment: dict[str, str]
    volumes: dict[str, str]
    health: list[str]


class ComposeFile:
    def __init__(self, path: Path, variables: Mapping[str, str] | None = None) -> None:
        """`variables`: what `${NAME:-default}` is, where it is not the default."""
        self.path = path
        self.variables = variables or {}
        self.content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))

    @property
    def names(self) -> list[str]:
        return list(self.content["services"])

    def service(self, name: str, replaced: Mapping[str, str] | None = None) -> Service:
        """`replaced`: texts that mean something else here, such as a volume's folder or an address."""
        told = self.content["services"][name]

        def text(value: object) -> str:
            found = VARIABLE.sub(self._value, str(value))
            for before, after in (replaced or {}).items():
                found = found.replace(before, after)
            return found

        kind, *test = told["healthcheck"]["test"]
        health = [text(one) for one in test]
        return Service(
            name=name,
            command=[text(one) for one in told["command"]],
            environment={key: text(value) for key, value in told.get("environment", {}).items()},
            volumes=dict(reversed(one.split(":")[:2]) for one in told.get("volumes", [])),
            health=["sh", "-c", *health] if kind == "CMD-SHELL" else health,
        )

    def _value(self, found: re.Match[str]) -> str:
        if found[3]:
            return "$"  # `$$` is one
        return self.variables.get(found[1], found[2] or "")
