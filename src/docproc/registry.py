"""Which components exist: those of DocProc, of installed packages (entry points) and of the settings."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import entry_points

from docproc.engine.component import BaseComponent
from docproc.errors import ConfigurationError

ENTRY_POINT_GROUP = "docproc.components"

# Name -> "module.Class". Packages add theirs by the entry point group above.
COMPONENT_REGISTRY: dict[str, str] = {
    "collect": "docproc.engine.components.collect.Collect",
    "workflow_router": "docproc.engine.components.workflow_router.WorkflowRouter",
    "splitter": "docproc.apps.documents.components.splitter.Splitter",
    "ocr": "docproc.apps.documents.components.ocr.Ocr",
    "classifier": "docproc.apps.documents.components.classifier.Classifier",
    "classification_aggregator": (
        "docproc.apps.documents.components.classification_aggregator.ClassificationAggregator"
    ),
    "extractor": "docproc.apps.documents.components.extractor.Extractor",
    "extraction_aggregator": "docproc.apps.documents.components.extraction_aggregator.ExtractionAggregator",
    "consolidator": "docproc.apps.documents.components.consolidator.Consolidator",
}


class Registry:
    """Component classes by name, imported when first asked for."""

    def __init__(self, extra: Mapping[str, str] | None = None) -> None:
        installed = {
            point.name: point.value.replace(":", ".") for point in entry_points(group=ENTRY_POINT_GROUP)
        }
        self.paths = {**installed, **COMPONENT_REGISTRY, **(extra or {})}

    @cached_property
    def classes(self) -> dict[str, type[BaseComponent]]:
        return {name: self.load(name) for name in sorted(self.paths)}

    def load(self, name: str) -> type[BaseComponent]:
        """The class of a component; a ConfigurationError lists the valid names."""
        if name not in self.paths:
            raise ConfigurationError(
                f"there is no component {name!r}", remedy=f"Use one of: {', '.join(sorted(self.paths))}"
            )
        module_name, _, class_name = self.paths[name].rpartition(".")
        try:
            found = getattr(importlib.import_module(module_name), class_name)
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            raise ConfigurationError(
                f"component {name!r} cannot be imported from {self.paths[name]!r}: {error}",
                remedy="Check the module path, and that the package is installed in this environment",
            ) from error
        if not (isinstance(found, type) and issubclass(found, BaseComponent)):
            raise ConfigurationError(
                f"component {name!r}: {self.paths[name]} is not a BaseComponent",
                remedy="Derive it from docproc.engine.component.BaseComponent",
            )
        if getattr(found, "component_name", None) != name:
            raise ConfigurationError(
                f"component {name!r} is called {getattr(found, 'component_name', None)!r} in its class",
                remedy=f"Set component_name = {name!r}",
            )
        return found
