"""One component in one process, as in a container: seen through its port, its signals and its log."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import psutil
import pytest

from bench.servers import HOST, RabbitServer, _free_ports
from docproc.doors.service import DOORS
from docproc.registry import COMPONENT_REGISTRY
from tests import services
from tests.processes import Processes, Service, are_gone, until

GATED = "stages: [{name: gate, component: gate}]"


def test_component_name_that_is_wrong_or_unset_lists_the_valid_ones(embedded: Processes) -> None:
    for name, said in (("nosuch", "no component 'nosuch'"), ("", "DOCPROC_COMPONENT_NAME is not set")):
        ended = embedded.run(**({"COMPONENT_NAME": name} if name else {}))
        assert ended.code == 1
        assert said in ended.error
        services = ["api_gateway", "backoffice", "sla_monitor", *DOORS]
        names = sorted([*services, *COMPONENT_REGISTRY, *embedded.settings.components])
        assert ended.error.endswith(f"one of: {', '.join(names)}")


def test_component_is_ready_only_after_setup_and_then_works(processes: Processes) -> None:
    processes.workflow("gated", GATED)
    service = processes.start(COMPONENT_NAME="gate")
    service.until_status("/health", 200)
    until(lambda: processes.count("workers") == 1, "it is alive in the database")
    assert service.get("/ready") == (503, '{"status":"not ready"}')
    assert service.status("/health") == 200

    processes.open_gate("warm")
    service.until_status("/ready", 200)
    processes.open_gate("open")
    processes.submit("gated")
    processes.until_all("completed", 1)
    _, metrics = service.get("/metrics") or (0, "")
    assert "process_cpu_seconds_total" in metrics and 'component="gate"' in metrics
    service.stop()


@pytest.mark.parametrize(
    ("number", "how"),
    [(signal.SIGTERM, "embedded"), (signal.SIGTERM, "distributed"), (signal.SIGINT, "embedded")],
)
def test_stop_signal_finishes_the_message_in_flight_and_takes_no_other(
    number: signal.Signals, how: str, request: pytest.FixtureRequest
) -> None:
    processes: Processes = request.getfixturevalue(how)
    processes.workflow("gated", GATED)
    processes.open_gate("warm")
    service = processes.start(COMPONENT_NAME="gate")
    service.until_status("/ready", 200)
    processes.submit("gated", times=2)
    until(lambda: processes.entered() == 1, "a message is in flight")

    service.signal(number)
    service.until_status("/ready", 503)  # first of all, and while the message is still in flight
    assert service.status("/health") == 200
    assert processes.count("requests WHERE status = 'completed'") == 0
    processes.open_gate("open")

    assert service.wait() == 0
    assert processes.entered() == 1
    assert processes.count("requests WHERE status = 'completed'") == 1
    assert processes.count("messages") == 1
    assert processes.count("messages WHERE state = 'leased'") == 0
    assert processes.count("workers") == 0


def test_stop_signal_is_heeded_while_the_component_still_waits(distributed: Processes) -> None:
    nobody = f"{HOST}:{_free_ports(1)[0]}"
    lost = {"DATABASE_URL": f"postgresql://postgres@{nobody}/docproc"}
    mute = {"RABBITMQ_URL": f"amqp://guest:guest@{nobody}/"}
    waiting = {
        "DOCPROC_DATABASE_URL": distributed.start(COMPONENT_NAME="gate", **lost),
        "DOCPROC_RABBITMQ_URL": distributed.start(COMPONENT_NAME="gate", **mute),
        "setup": distributed.start(COMPONENT_NAME="gate"),
    }
    for cause, service in waiting.items():
        service.until_status("/ready", 503)
        if cause == "setup":
            until(lambda: distributed.count("workers") == 1, "it has come as far as the database")
        else:
            until(partial(_waits, service), f"it waits for {cause}")
            assert "out of reach" in _waits(service)[0] and cause in _waits(service)[0]
        service.signal(signal.SIGTERM)
        assert service.wait(5) == 0
    assert distributed.count("workers") == 0


def test_component_waits_for_the_migration_and_then_starts(tmp_path: Path) -> None:
    services.require(services.postgres_problem())
    with services.postgres_database() as url, closing(Processes(tmp_path, url)) as processes:
        processes.open_gate("warm")
        service = processes.start(COMPONENT_NAME="gate")
        waiting = service.until_event("waiting_for_database")
        assert waiting["problem"].endswith("not migrated to this version. Run: docproc db upgrade")
        assert waiting["level"] == "warning"
        assert (service.status("/health"), service.status("/ready")) == (200, 503)
        assert processes.run("db", "upgrade").code == 0
        service.until_status("/ready", 200)
        service.stop()


def test_setup_that_fails_ends_the_process_with_one_log_line_and_no_trace(embedded: Processes) -> None:
    service = embedded.start(COMPONENT_NAME="crash")
    assert service.wait() == 1
    failed = service.events("worker_failed")
    assert len(failed) == 1
    assert failed[0]["exception"][0]["exc_value"] == "the model file is damaged"
    assert "Traceback" not in service.said()
    assert embedded.count("workers") == 0


def test_taken_health_port_is_reported_and_does_not_stop_the_work(embedded: Processes) -> None:
    embedded.workflow("gated", GATED)
    for name in ("warm", "open"):
        embedded.open_gate(name)
    with socket.create_server((HOST, 0)) as taken:
        service = embedded.start(COMPONENT_NAME="gate", HEALTH_PORT=taken.getsockname()[1])
        assert service.until_event("health_port_taken")["remedy"] == "set DOCPROC_HEALTH_PORT"
        embedded.submit("gated")
        embedded.until_all("completed", 1)
        service.stop()


def test_killed_component_takes_its_native_children_with_it(embedded: Processes) -> None:
    embedded.workflow("native", "stages: [{name: native, component: native}]")
    service = embedded.start(COMPONENT_NAME="native")
    embedded.submit("native", behave="hang")
    until(lambda: len(_native_children(service)) == 1, f"a child works; {service.log} says why")
    children = service.children()
    service.process.kill()
    service.wait()
    until(lambda: are_gone(children), "the children ended")


@pytest.fixture
def private_broker() -> Iterator[RabbitServer]:
    services.require(RabbitServer.available())
    with closing(RabbitServer()) as server:
        yield server


def test_readiness_follows_the_connection_to_the_broker(
    tmp_path: Path, postgres_url: str, private_broker: RabbitServer
) -> None:
    with closing(Processes(tmp_path, postgres_url, private_broker.url)) as processes:
        processes.workflow("gated", GATED)
        for name in ("warm", "open"):
            processes.open_gate(name)
        service = processes.start(COMPONENT_NAME="gate")
        service.until_event("waiting_for_broker")
        assert (service.status("/health"), service.status("/ready")) == (200, 503)
        private_broker.start()
        service.until_status("/ready", 200)

        private_broker.stop()
        service.until_status("/ready", 503, seconds=10)
        assert service.status("/health") == 200
        until(lambda: processes.count("workers WHERE is_ready") == 0, "the database knows, too")

        private_broker.start()
        service.until_status("/ready", 200)
        processes.submit("gated")
        processes.until_all("completed", 1)
        service.stop()


def _waits(service: Service) -> list[str]:
    lines = (*service.events("waiting_for_database"), *service.events("waiting_for_broker"))
    return [str(line["problem"]) for line in lines]


def _native_children(service: Service) -> list[psutil.Process]:
    """Pool workers; multiprocessing also keeps a resource tracker."""
    return [child for child in service.children() if "spawn_main" in " ".join(child.cmdline())]
