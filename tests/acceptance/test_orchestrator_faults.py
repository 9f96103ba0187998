"""The orchestrator on PostgreSQL and Redis, its parts processes of their own: killed, paused, robbed of
everything.

Accepted = ended, and nothing twice (B3, B4, B8, B9).
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest
import redis
from websockets.sync.client import connect

from bench.redis_server import RedisServer
from bench.servers import HOST, PostgresServer, _free_ports
from tests import services
from tests.processes import ROOT, Processes, Service, until

pytestmark = [pytest.mark.timeout(240), pytest.mark.xdist_group("orchestrator faults")]
# However slow the machine is: what a service takes longer than allowed for is another test's.
TASK: dict[str, Any] = {
    "type": {"domain": "agent", "action": "execute"},
    "session_id": "s",
    "payload": {},
    "metadata": {"timeout_ms": 120_000},
}
OPEN_CALLS = 500


class Running:
    """Two APIs, two workers and a service, on servers of their own."""

    def __init__(self, folder: Path, postgres: PostgresServer, redis_server: RedisServer) -> None:
        self.folder = folder
        self.postgres = postgres
        self.redis_server = redis_server
        self.redis = redis.Redis.from_url(redis_server.url)
        self.processes = Processes(folder, postgres.url)
        environment = self.processes.environment
        del environment["DOCPROC_COMPONENTS"]
        environment |= {
            "DOCPROC_REDIS_URL": redis_server.url,
            "DOCPROC_APPLICATIONS": "orchestrator",
            "DOCPROC_DATABASE_CONNECTIONS": "3",
            "DOCPROC_STORAGE_PATH": str(folder / "files"),
            "DOCPROC_ORCHESTRATOR_RESEND_SECONDS": "2",
            "LEDGER": str(folder),
        }
        self.ports: list[int] = []
        self.workers: list[Service] = []
        self.apis: list[Service] = []
        self._others: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        assert self.processes.run("db", "upgrade").code == 0
        for _ in range(2):
            self.workers.append(self.worker())
            self.ports += _free_ports(1)
            self.apis.append(self.api(self.ports[-1]))
        self.service("agent-execution")
        self.until_workers()
        for port in self.ports:
            until(lambda port=port: _answers(port), "the API answers", 60)  # type: ignore[misc] # of this turn

    def worker(self) -> Service:
        return self.processes.start("worker", "--child", "service_call", "task_result")

    def until_workers(self) -> None:
        """Both say that they take tasks, in the database: a child has no server of its own."""
        ready = (
            "workers WHERE is_ready AND components LIKE '%service_call%' AND beat_at > now() - interval '2 s'"
        )
        until(lambda: self.processes.count(ready) == 2, "both workers are ready", 60)

    def api(self, port: int) -> Service:
        return self.processes.start(COMPONENT_NAME="api_gateway", API_PORT=port)

    def service(self, name: str) -> subprocess.Popen[bytes]:
        with (self.folder / "answering.log").open("ab") as told:
            command = [sys.executable, "-m", "tests.orchestrator_service", name]
            environment = {**self.processes.environment, "AT_ONCE": "1000"}
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=told, stderr=told)
        self._others.append(process)
        return process

    def close(self) -> None:
        for process in self._others:
            process.kill()
            process.wait()
        self.processes.close()
        self.redis.close()

    # --- a client's view --------------------------------------------------------------------------------

    def submit(self, number: int = 0, api: int = 0, **more: Any) -> str:
        body = {**TASK, "payload": {"n": number}, **more}
        answer = httpx.post(f"http://{HOST}:{self.ports[api]}/api/v1/tasks", json=body, timeout=30)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["task_id"])

    def submit_many(self, count: int, **more: Any) -> list[str]:
        async def main() -> list[str]:
            url = f"http://{HOST}:{self.ports[0]}"
            async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                found: list[str] = []
                for first in range(0, count, 20):
                    numbers = range(first, min(first + 20, count))
                    found += await asyncio.gather(*(one(client, number) for number in numbers))
                return found

        async def one(client: httpx.AsyncClient, number: int) -> str:
            body = {**TASK, "payload": {"n": number}, **more}
            answer = await client.post("/api/v1/tasks", json=body)
            assert answer.status_code == 202, answer.text
            return str(answer.json()["task_id"])

        return asyncio.run(main())

    def open_gate(self) -> None:
        (self.folder / "gate").touch()

    def shut_gate(self) -> None:
        (self.folder / "gate").unlink(missing_ok=True)

    def begun(self) -> Counter[str]:
        """How often each task was begun by a service."""
        lines = (self.folder / "begun").read_text().splitlines() if (self.folder / "begun").exists() else []
        return Counter(line.split()[0] for line in lines)

    def until_ended(self, ids: list[str], seconds: float = 90) -> None:
        """All completed, each told once in the ledger of events."""

        def ended() -> bool:
            names = ",".join(f"'{one}'" for one in ids)
            done = self.processes.count(f"requests WHERE id IN ({names}) AND status = 'completed'")
            return done == len(ids)

        until(ended, f"{len(ids)} tasks are completed", seconds)
        names = ",".join(f"'{one}'" for one in ids)
        twice = self.processes.query(
            "SELECT request_id FROM events WHERE kind = 'status' AND outcome = 'completed' "
            f"AND request_id IN ({names}) GROUP BY request_id HAVING count(*) <> 1"
        )
        assert twice == []
        calls = self.processes.query(
            f"SELECT count(*) FROM orchestrator_calls WHERE request_id IN ({names}) AND state = 'completed'"
        )
        assert calls[0][0] == len(ids)

    def until_begun(self, ids: list[str], seconds: float = 60) -> None:
        until(lambda: set(ids) <= set(self.begun()), "the service has begun all of them", seconds)


def _is_accepting(running: Running, api: int) -> bool:
    answer = httpx.post(f"http://{HOST}:{running.ports[api]}/api/v1/tasks", json=TASK, timeout=30)
    assert answer.status_code in (202, 503), answer.text
    assert answer.status_code == 202 or int(answer.headers["retry-after"]) > 0
    return answer.status_code == 202


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://{HOST}:{port}/health", timeout=2).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    services.require(RedisServer.available())
    services.require(PostgresServer.available())
    with PostgresServer(fsync=False) as postgres, RedisServer() as redis_server:
        found = Running(tmp_path_factory.mktemp("orchestrator"), postgres, redis_server)
        try:
            found.start()
            yield found
        finally:
            found.close()


@pytest.fixture(autouse=True)
def _gate(running: Running) -> Iterator[None]:
    running.open_gate()
    yield
    running.open_gate()


# --- keys (B3, B9) ----------------------------------------------------------------------------------------


def test_keys_have_the_specified_names_and_lifetimes(running: Running) -> None:
    for worker in running.workers:  # nobody takes the task: its entry can be looked at
        worker.signal(signal.SIGSTOP)
    try:
        task_id = running.submit(session_id="keys", priority=3)
        entry = "orchestrator:tasks:default:3"
        until(lambda: running.redis.xlen(entry) == 1, "the task is in its stream")
        assert 290 <= int(running.redis.ttl(entry)) <= 3600
        ((_, fields),) = running.redis.xrange(entry) or []
        assert fields is not None and 9 - int(fields[b"band"]) == 3
    finally:
        for worker in running.workers:
            worker.signal(signal.SIGCONT)
    running.until_ended([task_id])

    def told() -> bool:
        state = json.loads(running.redis.get("orchestrator:session:default:keys") or "{}")
        return bool(state.get("tasks", {}).get(task_id) == "completed")

    until(told, "the session in Redis knows the task's end")
    assert 1700 <= int(running.redis.ttl("orchestrator:session:default:keys")) <= 1800
    notices = "orchestrator:system:notifications:task.completed"
    assert 500 <= int(running.redis.ttl(notices)) <= 600


def test_deleted_entry_is_put_back_and_runs_once(running: Running) -> None:
    for worker in running.workers:
        worker.signal(signal.SIGSTOP)
    try:
        task_id = running.submit(priority=7)
        stream = "orchestrator:tasks:default:7"
        until(lambda: running.redis.xlen(stream) == 1, "the task is in its stream")
        running.redis.delete(stream)
    finally:
        for worker in running.workers:
            worker.signal(signal.SIGCONT)
    running.until_ended([task_id], 30)
    assert running.begun()[task_id] == 1


def test_expired_task_is_dropped_with_its_reason(running: Running) -> None:
    for worker in running.workers:
        worker.signal(signal.SIGSTOP)
    try:
        soon = datetime.now(UTC) + timedelta(seconds=1)
        task_id = running.submit(expires_at=soon.isoformat())
        until(lambda: datetime.now(UTC) > soon, "its time is over")
    finally:
        for worker in running.workers:
            worker.signal(signal.SIGCONT)

    def dropped() -> bool:
        entries: Any = running.redis.xrange("orchestrator:dlq:default")
        found = {json.loads(one[b"envelope"])["task_id"]: one[b"reason"] for _, one in entries}
        return found.get(task_id) == b"expired"

    until(dropped, "it is in the tenant's list of what was dropped", 30)
    assert running.begun()[task_id] == 0


# --- flows (B6, B7, B20) ------------------------------------------------------------------------------------


def _follow(running: Running, session_id: str, **said: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A task and its events, as a client on a WebSocket hears of them."""
    address = f"ws://{HOST}:{running.ports[1]}/ws?session_id={session_id}&after=0.0"
    url = f"http://{HOST}:{running.ports[0]}/api/v1/tasks"
    body = {"session_id": session_id, "correlation_id": str(uuid4()), **said}
    with connect(address, proxy=None) as socket:
        _until_heard(socket, "session.synced")
        answer = httpx.post(url, json=body, timeout=30)
        assert answer.status_code == 202, answer.text
        told: list[dict[str, Any]] = []
        while not told or told[-1]["type"] not in ("task.completed", "task.failed"):
            event = json.loads(socket.recv(timeout=30))
            told += [event] if "id" in event else []
            (running.folder / f"heard-{event.get('percent')}").touch()
    task = httpx.get(f"{url}/{answer.json()['task_id']}").json()
    assert {one["correlation_id"] for one in told} == {task["correlation_id"]} == {body["correlation_id"]}
    return task, told


def test_basic_flow_of_separate_processes(running: Running) -> None:
    """§4.1: the client hears of 25, 50 and 75 %, then of the end; the state is in Redis."""
    task, told = _follow(running, "basic", type=TASK["type"], payload={"reports": True})
    assert [one["percent"] for one in told if "percent" in one] == [25, 50, 75, 100]
    assert (told[0]["type"], told[-1]["type"]) == ("task.accepted", "task.completed")

    def is_kept() -> bool:
        state = json.loads(running.redis.get("orchestrator:session:default:basic") or "{}")
        return bool(state.get("tasks") == {task["task_id"]: "completed"})

    until(is_kept, "the state in Redis")


def test_flow_of_three_services_in_processes_of_their_own(running: Running) -> None:
    """§4.2: agent and tools side by side; the agent asks for a tool, and goes on with what it found."""
    others = {name: running.service(name).pid for name in ("tool-registry", "query-service")}
    steps = [
        {"name": "agent", "type": TASK["type"], "payload": {"asks": "needle"}},
        {"name": "tools", "type": {"domain": "tool", "action": "query"}, "service": "tool-registry"},
    ]
    task, told = _follow(running, "flow", plan={"steps": steps}, payload={"of": "the task"})
    assert task["status"] == "completed", task
    results = task["result"]["results"]
    found = results["agent"]["found"]
    assert (found["matches"], found["context"]) == (["needle"], {"of": "the task"})
    assert results["tools"]["tools"] == ["search"]
    # Three processes, none of them an orchestrator's, and each was told whose request it is.
    assert {results["tools"]["pid"], found["pid"]} == set(others.values())
    assert results["agent"]["pid"] not in others.values()
    assert {results["tools"]["correlation_id"], found["correlation_id"]} == {task["correlation_id"]}
    said = [(one["type"], one.get("step"), (one.get("data") or {}).get("tool")) for one in told]
    order = [("step.started", "agent"), ("step.waiting", "agent"), ("step.resumed", "agent")]
    places = [[one[:2] for one in said].index(one) for one in order]
    assert places == sorted(places) and said[-1][0] == "task.completed"
    assert {(one["service"], one["status"]) for one in task["delegated_services"]} == {
        (name, "completed") for name in ("agent-execution", *others)
    }
    trace = httpx.get(f"http://{HOST}:{running.ports[0]}/api/v1/traces/{task['correlation_id']}").json()
    data = [one["data"] for one in trace["timeline"] if one["kind"] in ("step", "progress")]
    assert {one["correlation_id"] for one in data} == {task["correlation_id"]}
    _check_logs(running, task)


def test_commands_submit_list_and_show_tasks_and_set_the_degradation(running: Running) -> None:
    def run(*words: str) -> Any:
        ended = running.processes.run("orchestrator", *words, "--json", SERVER=address)
        assert ended.code == 0, ended.err
        return ended.json

    address = f"http://{HOST}:{running.ports[0]}"
    accepted = run("submit", "agent.execute", "--payload", '{"n": 7}', "--session", "typed")
    running.until_ended([accepted["task_id"]])
    (listed,) = run("list", "--session", "typed", "--status", "completed")
    shown = run("show", accepted["task_id"])
    assert listed["task_id"] == shown["task_id"] == accepted["task_id"]
    assert shown["result"]["results"]["execute"] == {"echo": 7}
    assert run("degradation", "reduced", "--reason", "a drill")["forced"] == "reduced"
    assert run("degradation", "full")["forced"] == run("degradation")["level"] == "full"
    refused = running.processes.run("orchestrator", "submit", SERVER=address)
    assert refused.code == 2 and "one operation" in refused.error


def _check_logs(running: Running, task: dict[str, Any]) -> None:
    """Every line about the request has its correlation id, whichever process wrote it."""
    lines = [
        line
        for one in (*running.workers, *running.apis)
        for line in one.said().splitlines()
        if task["task_id"] in line
    ]
    assert lines, "nothing was logged of it"
    assert [line for line in lines if task["correlation_id"] not in line] == []


# --- losses (B9) ------------------------------------------------------------------------------------------


def test_flush_with_500_open_calls_loses_none(running: Running) -> None:
    running.shut_gate()
    ids = running.submit_many(OPEN_CALLS)
    running.until_begun(ids)
    running.redis.flushall()
    running.open_gate()
    running.until_ended(ids)
    until(lambda: running.redis.exists("orchestrator:session:default:s"), "the session is written again")


def test_restarted_redis_loses_none(running: Running) -> None:
    running.shut_gate()
    ids = running.submit_many(50)
    running.redis_server.kill()
    more = [running.submit(n) for n in range(5)]  # accepted all the same
    running.redis_server.start()
    running.open_gate()
    running.until_ended([*ids, *more])


def test_restarted_database_loses_none(running: Running) -> None:
    running.shut_gate()
    ids = running.submit_many(50)
    running.postgres.restart()
    running.open_gate()
    running.until_ended(ids)
    for api in (0, 1):  # clients are told to try again until their server has connections again
        until(lambda api=api: _is_accepting(running, api), "tasks are accepted", 30)  # type: ignore[misc] # as above


# --- takeover (B8) ----------------------------------------------------------------------------------------


def test_killed_orchestrator_is_taken_over_and_its_client_goes_on(running: Running) -> None:
    """The API that accepted and a worker die at once; the other ones end the tasks, and tell the client."""
    running.shut_gate()
    ids = running.submit_many(20, session_id="kept")
    with connect(f"ws://{HOST}:{running.ports[0]}/ws?session_id=kept&after=0.0", proxy=None) as socket:
        last = _until_heard(socket, "session.synced")
    running.workers[0].kill()
    running.apis[0].kill()
    died = time.monotonic()
    running.open_gate()
    with connect(f"ws://{HOST}:{running.ports[1]}/ws?session_id=kept&after={last}", proxy=None) as socket:
        ended: Counter[str] = Counter()
        while set(ended) != set(ids):
            event = json.loads(socket.recv(timeout=30))
            if event["type"] == "task.completed":
                ended[event["task_id"]] += 1
        took = time.monotonic() - died
    assert set(ended.values()) == {1}, "none lost, none doubled"
    running.until_ended(ids)
    assert took < 15, f"{took:.1f} s"  # four to be sure that it is dead; the bench holds it to five
    running.workers[0], running.apis[0] = running.worker(), running.api(running.ports[0])
    running.until_workers()
    until(lambda: _answers(running.ports[0]), "the API answers again", 60)


def test_saga_goes_on_after_its_workers_are_killed_while_it_undoes(running: Running) -> None:
    """B14: each compensation once and in order, though every worker dies in the middle of the second one."""
    held = running.folder / "hold-two"
    held.touch()
    agent, undo = TASK["type"], {"domain": "agent", "action": "notify"}
    names = ["one", "two", "three"]
    steps = [
        {
            "name": name,
            "type": agent,
            "after": names[: names.index(name)][-1:],
            "payload": {"fails": name == "three"},
            "compensate": {"type": undo, "payload": {"undoes": name}},
        }
        for name in names
    ]
    body = {"plan": {"steps": steps}}
    answer = httpx.post(f"http://{HOST}:{running.ports[0]}/api/v1/tasks", json=body, timeout=30)
    assert answer.status_code == 202, answer.text
    task_id = answer.json()["task_id"]

    def undone() -> list[str]:
        ledger = running.folder / "undone"
        lines = ledger.read_text().splitlines() if ledger.exists() else []
        return [line.partition(" ")[2] for line in lines if line.startswith(task_id)]

    until(lambda: "begun two 1" in undone(), "the second compensation has begun", 60)
    for worker in running.workers:
        worker.kill()
    held.unlink()
    until(lambda: "done two 1" in undone(), "the service is done with it, and nobody takes its answer")
    assert undone()[-1] == "done two 1"
    running.workers[:] = [running.worker(), running.worker()]
    url = f"http://{HOST}:{running.ports[0]}/api/v1/tasks/{task_id}"
    until(lambda: httpx.get(url).json()["status"] == "failed", "the task ends", 60)
    assert undone() == [f"{word} {name} 1" for name in reversed(names) for word in ("begun", "done")]
    error = httpx.get(url).json()["error"]
    assert (error["code"], error["undone"], error["not_undone"]) == ("NO", ["three", "two", "one"], [])
    running.until_workers()


def test_paused_orchestrator_that_wakes_acts_on_nothing(running: Running) -> None:
    running.shut_gate()
    ids = running.submit_many(20)
    running.until_begun(ids)
    paused = running.workers[0]
    paused.signal(signal.SIGSTOP)
    running.open_gate()
    try:
        running.until_ended(ids, 60)
    finally:
        paused.signal(signal.SIGCONT)
    running.until_workers()
    running.until_ended(ids)  # still once each
    running.until_ended([running.submit()], 30)


def test_locks_of_a_stopped_process_hold_no_tasks_up(running: Running) -> None:
    """What all orchestrators write in turn may be locked by one that was stopped in the middle of it. Others
    used to wait for that lock with both of their connections for claims, so that no further envelope went
    out."""
    running.until_ended([running.submit()])
    url = running.postgres.url.replace("+asyncpg", "")
    shared = ("orchestrator_breakers", "orchestrator_call_statistics", "orchestrator_known_answers", "duties")

    async def main() -> None:
        connection = await asyncpg.connect(url, timeout=10)
        try:
            await connection.execute(
                "INSERT INTO workers (id, host, pid, components, is_ready, slots, started_at, beat_at) "
                "SELECT 'stopped', 'host', 1, '', true, 1, now(), now()"
            )
            async with connection.transaction():
                await connection.execute("SELECT 1 FROM workers WHERE id = 'stopped' FOR UPDATE")
                for table in shared:
                    await connection.execute(f"SELECT 1 FROM {table} FOR UPDATE")
                for _ in range(3):
                    ids = await asyncio.to_thread(running.submit_many, 30)
                    await asyncio.to_thread(running.until_ended, ids, 10)
        finally:
            await connection.close(timeout=5)

    asyncio.run(main())


def _until_heard(socket: Any, kind: str) -> str:
    """The place of the last event before one of that kind."""
    last = ""
    while True:
        event = json.loads(socket.recv(timeout=20))
        last = event.get("id", last)
        if event["type"] == kind:
            return str(event.get("position", last))


# --- order (B4) -------------------------------------------------------------------------------------------


def test_urgent_tasks_go_first_and_equals_in_order(running: Running) -> None:
    for worker in running.workers:
        worker.signal(signal.SIGSTOP)
    try:
        ids = {(p, n): running.submit(n, priority=p) for n in range(5) for p in (8, 5, 0)}
    finally:
        running.workers[0].signal(signal.SIGCONT)
    try:
        running.until_ended(list(ids.values()))
    finally:
        running.workers[1].signal(signal.SIGCONT)
    calls = running.processes.query(
        "SELECT request_id FROM orchestrator_calls WHERE request_id IN "
        f"({','.join(repr(one) for one in ids.values())}) ORDER BY opened_at, id"
    )
    began = [str(row[0]) for row in calls]
    places = {name: began.index(task_id) for name, task_id in ids.items()}
    assert max(places[0, n] for n in range(5)) < min(places[8, n] for n in range(5))
