"""`docproc worker`: several processes under a supervisor, and what becomes of them when some are killed."""

from __future__ import annotations

import signal
import time

import psutil

from docproc.engine.store.workers import STALE_SECONDS
from tests.processes import Processes, Service, are_gone, until

GATED = """
stages:
  - {name: split, component: split}
  - {name: gate, component: gate}
  - {name: gather, component: gather}
"""


def test_killed_worker_is_replaced_and_its_messages_are_free_at_once(embedded: Processes) -> None:
    service = _supervisor(embedded, 2)
    embedded.submit("gated", n=3)
    embedded.submit("gated", n=3)
    until(lambda: embedded.entered() >= 2, "both workers hold a message")
    workers = dict(embedded.query("SELECT pid, id FROM workers"))
    assert set(workers) == {child.pid for child in service.children()}

    victim, worker_id = sorted(workers.items())[0]
    assert embedded.count(f"messages WHERE state = 'leased' AND worker_id = '{worker_id}'") == 1
    killed_at = time.monotonic()
    psutil.Process(victim).kill()
    until(lambda: embedded.count(f"messages WHERE worker_id = '{worker_id}'") == 0, "its lease is free")
    assert time.monotonic() - killed_at < STALE_SECONDS / 2, "it was taken over by age"
    died = service.until_event("worker_died")
    assert (died["pid"], died["exit_code"], died["restart_in_s"]) == (victim, -9, 0.1)

    until(lambda: embedded.count("workers") == 2, "a new worker appears")
    assert victim not in dict(embedded.query("SELECT pid, id FROM workers"))
    embedded.open_gate("open")
    embedded.until_all("completed", 2)
    service.until_status("/ready", 200)

    service.stop()
    assert embedded.count("workers") == 0
    assert embedded.count("messages") == 0


def test_stopped_supervisor_is_not_ready_first_and_lets_its_workers_finish(embedded: Processes) -> None:
    service = _supervisor(embedded, 1)
    embedded.submit("gated")
    until(lambda: embedded.entered() == 1, "a message is in flight")
    children = service.children()
    service.signal(signal.SIGTERM)
    service.until_status("/ready", 503)
    assert not are_gone(children)
    assert embedded.count("messages WHERE state = 'leased'") == 1
    embedded.open_gate("open")
    assert service.wait() == 0
    assert are_gone(children)
    assert embedded.count("messages WHERE state = 'leased'") == 0
    assert embedded.count("messages WHERE queue = 'q.gate'") == 0
    assert embedded.count("workers") == 0


def test_workers_end_by_themselves_when_their_supervisor_is_killed(embedded: Processes) -> None:
    service = _supervisor(embedded, 2)
    children = service.children()
    assert len(children) == 2
    service.process.kill()
    service.wait()
    until(lambda: are_gone(children), "the workers ended")
    assert embedded.count("workers") == 0


def test_worker_that_cannot_start_is_restarted_with_growing_pauses(embedded: Processes) -> None:
    service = embedded.start("worker", "crash", "--processes", "1")
    until(lambda: len(service.events("worker_died")) >= 3, "it died three times", seconds=40)
    died = service.events("worker_died")[:3]
    assert [one["restart_in_s"] for one in died] == [0.1, 0.2, 0.4]
    assert {one["exit_code"] for one in died} == {1}
    assert "the model file is damaged" in service.said()
    assert (service.status("/health"), service.status("/ready")) == (200, 503)
    service.stop()


def _supervisor(processes: Processes, number: int) -> Service:
    processes.workflow("gated", GATED)
    processes.open_gate("warm")
    service = processes.start("worker", "split", "gate", "gather", "--processes", str(number))
    service.until_status("/ready", 200)
    return service
