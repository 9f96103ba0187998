"""Which components exist: those of applications, of installed packages (entry points) and of the settings."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import entry_points

from docproc.application import Application
from docproc.engine.component import BaseComponent, spec_of
from docproc.engine.component_spec import ComponentSpec
from docproc.engine.components.specs import COMPONENTS as ENGINE_COMPONENTS
from docproc.engine.transport import BACKOFFICE_EXCHANGE, DIRECT_EXCHANGE
from docproc.errors import ConfigurationError
from docproc.installed import find_applications

ENTRY_POINT_GROUP = "docproc.components"

Binding = tuple[str, str]
# What a manifest and its classes must say alike.
_DECLARED = (
    "input_queue", "takes", "gives", "status", "joins", "collects", "only_counts", "keeps_bodies",
    "asks_people",
)  # fmt: skip


def declared(applications: Iterable[Application]) -> dict[str, ComponentSpec]:
    """The components of the engine itself and of these applications, by name."""
    specs = [*ENGINE_COMPONENTS, *(spec for one in applications for spec in one.components)]
    return {spec.name: spec for spec in specs}


def bindings(applications: Iterable[Application]) -> dict[str, Binding]:
    """Queue -> (exchange, routing key): of every component, and of the notices about every kind of task."""
    applications = tuple(applications)
    found = {
        spec.input_queue: (DIRECT_EXCHANGE, spec.routing_key)
        for spec in declared(applications).values()
        if spec.routing_key
    }
    for kind in (kind for one in applications for kind in one.task_kinds):
        found[f"q.backoffice.{kind}"] = (BACKOFFICE_EXCHANGE, f"task.{kind}")
    return found


# Specified names, for whoever adds a component by hand: component -> "module.Class", and
# queue -> (exchange, routing key). Packages add theirs by entry point instead.
COMPONENT_REGISTRY: dict[str, str] = {
    name: spec.path.replace(":", ".") for name, spec in declared(find_applications().applications).items()
}
QUEUE_BINDINGS: dict[str, Binding] = bindings(find_applications().applications)


class Registry:
    """Components by name; a class is imported when it is first asked for.

    `applications`: those that are loaded; components and queues of others do not exist here.
    """

    def __init__(
        self, extra: Mapping[str, str] | None = None, applications: Sequence[Application] | None = None
    ) -> None:
        everything = find_applications().applications
        loaded = everything if applications is None else tuple(applications)
        # Applications are objects made once each, by their packages.
        others = [one for one in everything if one not in loaded]
        self._declared = declared(loaded)
        absent = {spec.name for one in others for spec in one.components}
        absent_queues = bindings(others).keys() - bindings(loaded).keys()
        installed = {
            point.name: point.value.replace(":", ".") for point in entry_points(group=ENTRY_POINT_GROUP)
        }
        by_hand = {name: path for name, path in COMPONENT_REGISTRY.items() if name not in absent}
        own = {name: spec.path.replace(":", ".") for name, spec in self._declared.items()}
        self.paths = {**installed, **own, **by_hand, **(extra or {})}
        self.bindings = {
            **bindings(loaded),
            **{queue: bound for queue, bound in QUEUE_BINDINGS.items() if queue not in absent_queues},
        }

    @property
    def names(self) -> list[str]:
        return sorted(self.paths)

    @cached_property
    def specs(self) -> dict[str, ComponentSpec]:
        """What routing must know of each: as a manifest declares it, else as the class says."""
        return {name: self._as_declared(name) or spec_of(self.load(name)) for name in self.names}

    def load(self, name: str) -> type[BaseComponent]:
        """The class of a component; a ConfigurationError lists the valid names."""
        if name not in self.paths:
            raise ConfigurationError(
                f"there is no component {name!r}", remedy=f"Use one of: {', '.join(self.names)}"
            )
        found = self._import(name)
        if not (isinstance(found, type) and issubclass(found, BaseComponent)):
            raise ConfigurationError(
                f"component {name!r}: {self.paths[name]} is not a BaseComponent",
                remedy="Derive it from docproc.BaseComponent",
            )
        if getattr(found, "component_name", None) != name:
            raise ConfigurationError(
                f"component {name!r} is called {getattr(found, 'component_name', None)!r} in its class",
                remedy=f"Set component_name = {name!r}",
            )
        self._check_agrees(name, found)
        return found

    def _import(self, name: str) -> object:
        module_name, _, class_name = self.paths[name].rpartition(".")
        try:
            return getattr(importlib.import_module(module_name), class_name)
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            raise ConfigurationError(
                f"component {name!r} cannot be imported from {self.paths[name]!r}: {error}",
                remedy="Check the module path, and that the package is installed in this environment",
            ) from error

    def _as_declared(self, name: str) -> ComponentSpec | None:
        """The manifest's word, as long as nobody put another class in the component's place."""
        spec = self._declared.get(name)
        return spec if spec and spec.path.replace(":", ".") == self.paths[name] else None

    def _check_agrees(self, name: str, component: type[BaseComponent]) -> None:
        """Flows are compiled from what a manifest declares: a class that does otherwise would break them."""
        spec = self._as_declared(name)
        if spec is None:
            return
        said = spec_of(component)
        for key in _DECLARED:
            if getattr(said, key) != getattr(spec, key):
                raise ConfigurationError(
                    f"component {name!r}: its manifest declares {key} {getattr(spec, key)!r}, "
                    f"its class says {getattr(said, key)!r}",
                    remedy="Let both say the same",
                )
