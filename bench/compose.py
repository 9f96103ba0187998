"""A compose file's services as processes of this machine: its commands and settings, without containers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

VARIABLE = re.compile(r"\$\{(\w+)(?:(:?)-([^}]*))?\}|\$(\$)")


@dataclass(frozen=True)
class Service:
    """As its container would start it. `command` is what the image's entry point is given."""

    name: str
    image: str
    command: list[str]
    environment: dict[str, str]
    # Path in the container -> volume, or path beside the compose file.
    volumes: dict[str, str]
    # Name under /run/secrets, or a path -> file beside the compose file.
    secrets: dict[str, str]
    # What Docker runs to see whether it is well; none: it is not asked.
    health: list[str]
    profiles: frozenset[str]
    # Service -> what it waits for, such as `service_healthy`.
    after: dict[str, str]


class ComposeFile:
    """`override`: a file that Compose lays over the first."""

    def __init__(
        self, path: Path, variables: Mapping[str, str] | None = None, override: Path | None = None
    ) -> None:
        """`variables`: what `${NAME:-default}` is, where it is not the default."""
        self.path = path
        self.variables = variables or {}
        self.content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        if override is not None:
            over = yaml.safe_load(override.read_text(encoding="utf-8"))
            self.content = merged(self.content, over)

    @property
    def names(self) -> list[str]:
        return list(self.content["services"])

    def started(self, *profiles: str) -> list[str]:
        """Those that `docker compose up` starts: without a profile, or with one that is named."""
        all_of_them = map(self.service, self.names)
        return [one.name for one in all_of_them if not one.profiles or one.profiles.intersection(profiles)]

    def service(self, name: str, replaced: Mapping[str, str] | None = None) -> Service:
        """`replaced`: texts that mean something else here, such as a volume's folder or an address."""
        told = self.told(name)

        def text(value: object) -> str:
            found = VARIABLE.sub(self._value, str(value))
            for before, after in (replaced or {}).items():
                found = found.replace(before, after)
            return found

        kind, *test = told.get("healthcheck", {}).get("test", ["NONE"])
        health = [text(one) for one in test]
        files = self.content.get("secrets", {})
        return Service(
            name=name,
            image=text(told.get("image", "")),
            command=[text(one) for one in told.get("command", [])],
            environment={key: text(value) for key, value in told.get("environment", {}).items()},
            volumes={one.split(":")[1]: text(one.split(":")[0]) for one in told.get("volumes", [])},
            secrets={target: text(files[source]["file"]) for source, target in _secrets(told)},
            health=["sh", "-c", *health] if kind == "CMD-SHELL" else health,
            profiles=frozenset(told.get("profiles", [])),
            after={one: how["condition"] for one, how in told.get("depends_on", {}).items()},
        )

    def told(self, name: str) -> dict[str, Any]:
        """What the file says of a service, with what it extends laid under it."""
        own: dict[str, Any] = dict(self.content["services"][name])
        if "extends" not in own:
            return own
        base = own.pop("extends")
        there = ComposeFile(self.path.parent / base["file"], self.variables) if "file" in base else self
        return merged(there.told(base["service"]), own)

    def _value(self, found: re.Match[str]) -> str:
        if found[4]:
            return "$"  # `$$` is one
        value = self.variables.get(found[1])
        # `:-` counts an empty variable as unset, `-` does not.
        return (found[3] or "") if value is None or (found[2] and not value) else value


def merged(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """As Compose lays one over the other: mappings key by key, lists one after the other;
    a command, and the test of a
    health check, as a whole."""
    found = dict(base)
    for key, value in over.items():
        before = found.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            found[key] = merged(before, value)
        elif (
            isinstance(before, list)
            and isinstance(value, list)
            and key not in ("command", "entrypoint", "test")
        ):
            found[key] = before + [one for one in value if one not in before]
        else:
            found[key] = value
    return found


def _secrets(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name of the secret, and what its file is called in the container."""
    given = told.get("secrets", [])
    return [(one, one) if isinstance(one, str) else (one["source"], one["target"]) for one in given]
