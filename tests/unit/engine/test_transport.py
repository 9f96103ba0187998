"""Topology: the specified queues and bindings, and those of further components."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from docproc.apps.documents.application import application as documents
from docproc.engine.component import BaseComponent, spec_of
from docproc.engine.transport import (
    BACKOFFICE_EXCHANGE,
    DEAD_LETTER_EXCHANGE,
    DEAD_LETTER_QUEUE,
    DIRECT_EXCHANGE,
    Topology,
)
from docproc.errors import ConfigurationError, UnroutableError
from docproc.registry import QUEUE_BINDINGS, bindings
from tests.components import Heavy, Work
from tests.unit.engine.workflow.flows import Unrun

# Specification §5.2: routing key -> queue, by exchange.
SPECIFIED = {
    "doc.direct": {
        "request.new": "q.workflow_router",
        "request.split": "q.splitter",
        "page.ocr": "q.ocr",
        "page.classify": "q.classifier",
        "page.classified": "q.classification_aggregator",
        "doc.extract": "q.extractor",
        "doc.extracted": "q.extraction_aggregator",
        "request.consolidate": "q.consolidator",
    },
    "doc.backoffice": {
        "task.classification": "q.backoffice.classification",
        "task.extraction": "q.backoffice.extraction",
    },
}


class Ocr(Unrun):
    component_name = "ocr"


class Router(Unrun):
    component_name = "workflow_router"
    routing_key = "ignored.because.specified"


class Named(Unrun):
    component_name = "named"
    routing_key = "mi.routing.key"


class Elsewhere(Unrun):
    component_name = "elsewhere"
    input_queue = "material_processing_high"


class Thief(Unrun):
    component_name = "thief"
    routing_key = "page.ocr"


class OtherNamed(Unrun):
    component_name = "other_named"
    routing_key = "mi.routing.key"


class Sharer(Unrun):
    component_name = "sharer"
    input_queue = "q.work"


def test_exchanges_have_the_specified_names() -> None:
    assert (DIRECT_EXCHANGE, BACKOFFICE_EXCHANGE, DEAD_LETTER_EXCHANGE) == (
        "doc.direct", "doc.backoffice", "doc.dlx",
    )  # fmt: skip
    assert DEAD_LETTER_QUEUE == "q.dead_letters"


def topology_of(components: Sequence[type[BaseComponent]] = ()) -> Topology:
    """As a process has it: the bindings of what is installed, and these components."""
    return Topology.of([spec_of(component) for component in components], QUEUE_BINDINGS)


def test_bindings_are_exactly_the_specified_ones() -> None:
    """Documents' own: other applications add queues of theirs, under names that are not specified."""
    found: dict[str, dict[str, str]] = {}
    for queue, (exchange, key) in bindings([documents]).items():
        found.setdefault(exchange, {})[key] = queue
    assert found == SPECIFIED


@pytest.mark.parametrize(
    ("exchange", "key", "queue"),
    [(exchange, key, queue) for exchange, keys in SPECIFIED.items() for key, queue in keys.items()],
)
def test_specified_keys_lead_to_the_specified_queues(exchange: str, key: str, queue: str) -> None:
    topology = topology_of()
    assert topology.queue(exchange, key) == queue
    assert topology.routing_key(queue) == key


@pytest.mark.parametrize(
    ("exchange", "key"),
    [("doc.direct", "nowhere"), ("doc.direct", "task.extraction"), ("doc.backoffice", "page.ocr"), ("", "")],
)
def test_key_without_a_queue_is_unroutable(exchange: str, key: str) -> None:
    with pytest.raises(UnroutableError) as caught:
        topology_of().queue(exchange, key)
    assert (caught.value.exchange, caught.value.routing_key) == (exchange, key)


def test_component_without_a_binding_is_bound_under_its_name() -> None:
    topology = topology_of([Work])
    assert topology.bindings["q.work"] == ("doc.direct", "work")
    assert topology.queue("doc.direct", "work") == "q.work"


def test_component_may_choose_its_routing_key() -> None:
    assert topology_of([Named]).bindings["q.named"] == ("doc.direct", "mi.routing.key")


def test_component_may_choose_its_queue() -> None:
    assert topology_of([Elsewhere]).queue("doc.direct", "elsewhere") == "material_processing_high"


@pytest.mark.parametrize("component", [Ocr, Router])
def test_specified_component_keeps_its_specified_binding(component: type[Unrun]) -> None:
    assert topology_of([component]).bindings == QUEUE_BINDINGS


def test_components_are_added_to_the_specified_bindings() -> None:
    bindings = topology_of([Work, Heavy, Named]).bindings
    assert set(bindings) == {*QUEUE_BINDINGS, "q.work", "q.heavy", "q.named"}


def test_order_of_the_components_changes_nothing() -> None:
    assert topology_of([Work, Named]).bindings == topology_of([Named, Work]).bindings


@pytest.mark.parametrize(
    ("components", "key"), [([Thief], "page.ocr"), ([Named, OtherNamed], "mi.routing.key")]
)
def test_two_queues_under_one_key_are_refused(components: list[type[BaseComponent]], key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        topology_of(components)
    assert key in str(caught.value)
    assert "routing_key" in caught.value.remedy


def test_components_may_share_a_queue() -> None:
    topology = topology_of([Work, Sharer])
    assert topology.bindings["q.work"] == ("doc.direct", "work")


def test_unknown_queue_has_no_routing_key() -> None:
    assert topology_of().routing_key("q.unknown") is None


def test_specified_bindings_cannot_be_changed_through_a_topology() -> None:
    topology_of([Work]).bindings["q.ocr"] = ("x", "y")
    assert QUEUE_BINDINGS["q.ocr"] == ("doc.direct", "page.ocr")
