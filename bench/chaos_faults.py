"""The faults of bench/chaos.py: each does harm, and undoes what would not end by itself.

A fault returns what it did once its harm is over; from then on the recovery's time counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

import asyncpg
import psutil

from bench.chaos_deployment import MONITOR, Deployment, role
from bench.machine import Disk, Machine
from bench.proxy import Proxy
from bench.servers import PostgresServer, RabbitServer

# How long a passing fault lasts.
SHORTEST_SECONDS, LONGEST_SECONDS = 0.5, 6.0
# The bounds.
RECOVERY_SECONDS, BROKER_RECOVERY_SECONDS = 10.0, 15.0
THROTTLED_BYTES = 48_000
CLOCK_OFFSETS = (-7200.0, -60.0, -8.0, 0.0, 8.0, 60.0, 7200.0)
QUEUES = ("q.fault_work", "q.fault_gather", "q.chaos_native", "q.workflow_router")


@dataclass
class Target:
    """All that can be harmed, and what one fault did to it."""

    deployment: Deployment
    disk: Disk
    # Our host, and those of the servers.
    machines: tuple[Machine, ...]
    postgres: PostgresServer | None = None
    rabbit: RabbitServer | None = None
    proxies: dict[str, Proxy] = field(default_factory=dict)
    # Anew for each fault, so that the same seed chooses the same, whatever went before.
    chance: random.Random = field(default_factory=random.Random)
    # Whether nobody was left to answer at deadlines: the fault hit every monitor.
    monitors_hit: bool = False
    # Whether writes took longer than answers are begun before their deadline, or those that need room failed.
    hinders_writes: bool = False

    @property
    def a_while(self) -> float:
        return self.chance.uniform(SHORTEST_SECONDS, LONGEST_SECONDS)

    def send(self, what: signal.Signals, victims: Iterable[psutil.Process]) -> None:
        hit = list(victims)
        # Also with whoever starts it: what they keep ends with them.
        ends_with = (MONITOR, "up") if what == signal.SIGKILL else (MONITOR,)
        monitors = [one for _, one in self.deployment.processes() if role(one) == MONITOR]
        if any(role(one) in ends_with for one in hit) and (
            len(self.deployment.services) == 1 or all(one in hit for one in monitors)
        ):
            self.monitors_hit = True
        for one in hit:
            with contextlib.suppress(psutil.Error):
                one.send_signal(what)


Fault = Callable[[Target], Awaitable[str]]


# --- processes ------------------------------------------------------------------------------------------


async def kill_a_process(target: Target) -> str:
    """Any process of the tree: supervisor, worker, child, API, station or monitor."""
    service, victim = target.chance.choice(target.deployment.processes())
    what = role(victim)
    target.send(signal.SIGKILL, [victim])
    return f"{what} {victim.pid} of {service}"


async def kill_a_part(target: Target) -> str:
    """By what it is for, so that there is as much harm to the few as to the many."""
    parts: dict[str, list[psutil.Process]] = {}
    for _, one in target.deployment.processes():
        parts.setdefault(role(one), []).append(one)
    what = target.chance.choice(sorted(parts))
    target.send(signal.SIGKILL, [target.chance.choice(parts[what])])
    return what


async def kill_children(target: Target) -> str:
    """All children at once."""
    found = [one for _, one in target.deployment.processes() if role(one) == "child"]
    target.send(signal.SIGKILL, found)
    return f"{len(found)} of them"


async def kill_everything(target: Target) -> str:
    """As when the host goes."""
    found = [one for _, one in target.deployment.processes()]
    target.send(signal.SIGKILL, found)
    return f"{len(found)} processes"


async def stop_a_process(target: Target) -> str:
    """Stopped and continued: what it holds may have been taken over meanwhile."""
    service, victim = target.chance.choice(target.deployment.processes())
    what, seconds = role(victim), target.a_while
    target.send(signal.SIGSTOP, [victim])
    await asyncio.sleep(seconds)
    target.send(signal.SIGCONT, [victim])
    return f"{what} {victim.pid} of {service} for {seconds:.1f} s"


async def stop_everything(target: Target) -> str:
    """As when the host sleeps, or its virtual machine is moved."""
    found = [one for _, one in target.deployment.processes()]
    seconds = target.a_while
    target.send(signal.SIGSTOP, found)
    await asyncio.sleep(seconds)
    target.send(signal.SIGCONT, found)
    return f"{len(found)} processes for {seconds:.1f} s"


# --- the machine ----------------------------------------------------------------------------------------


async def fill_disk(target: Target) -> str:
    seconds, target.hinders_writes = target.a_while, True
    await asyncio.to_thread(target.disk.fill)
    try:
        await asyncio.sleep(seconds)
    finally:
        target.disk.make_room()
    if target.postgres and target.postgres.pid is None:  # it gave up: whoever runs it starts it again
        await asyncio.to_thread(target.postgres.start)
        return f"for {seconds:.1f} s, of which PostgreSQL died"
    return f"for {seconds:.1f} s"


async def set_clock(target: Target) -> str:
    """To another distance from the true time, where it stays: all that was put off must come all the same."""
    machine = target.chance.choice(target.machines)
    before = machine.offset
    machine.set_clock(target.chance.choice([offset for offset in CLOCK_OFFSETS if offset != before]))
    return f"{machine.name} by {machine.offset - before:+.0f} s"


async def slow_fsync(target: Target) -> str:
    seconds, delay = target.a_while, target.chance.uniform(0.05, 0.4)
    target.hinders_writes = True
    for machine in target.machines:
        machine.slow_down(delay)
    await asyncio.sleep(seconds)
    for machine in target.machines:
        machine.slow_down(0.0)
    return f"by {delay * 1000:.0f} ms for {seconds:.1f} s"


# --- the network ----------------------------------------------------------------------------------------


def _cut(server: str) -> Fault:
    async def cut_connections(target: Target) -> str:
        return f"{target.proxies[server].cut()} to {server}"

    return cut_connections


def _half_close(server: str) -> Fault:
    async def half_close_connections(target: Target) -> str:
        towards_server = target.chance.random() < 0.5
        number = target.proxies[server].half_close(towards_server=towards_server)
        return f"{number}, {'to' if towards_server else 'from'} {server}"

    return half_close_connections


def _throttle(server: str) -> Fault:
    async def throttle_connections(target: Target) -> str:
        proxy, seconds = target.proxies[server], target.a_while
        target.hinders_writes = server == "postgresql"
        proxy.bytes_per_second, proxy.delay_seconds = THROTTLED_BYTES, 0.02
        await asyncio.sleep(seconds)
        proxy.bytes_per_second, proxy.delay_seconds = None, 0.0
        return f"to {server} for {seconds:.1f} s"

    return throttle_connections


def _hold(server: str) -> Fault:
    async def hold_connections(target: Target) -> str:
        proxy, seconds = target.proxies[server], target.a_while
        proxy.hold()
        await asyncio.sleep(seconds)
        proxy.go_on()
        return f"to {server} for {seconds:.1f} s"

    return hold_connections


# --- PostgreSQL -----------------------------------------------------------------------------------------


async def restart_database(target: Target) -> str:
    assert target.postgres
    await asyncio.to_thread(target.postgres.restart)
    return "PostgreSQL"


async def crash_database(target: Target) -> str:
    assert target.postgres
    await asyncio.to_thread(target.postgres.kill)
    await asyncio.to_thread(target.postgres.start)
    return "PostgreSQL"


async def make_read_only(target: Target) -> str:
    """As after a failover to a standby that is promoted late."""
    assert target.postgres
    seconds = target.a_while
    await set_for_all(target.postgres, "default_transaction_read_only", "on")
    await asyncio.sleep(seconds)
    await set_for_all(target.postgres, "default_transaction_read_only", "off")
    return f"for {seconds:.1f} s"


async def set_for_all(server: PostgresServer, setting: str, value: str) -> None:
    """Of the whole server, at once."""
    connection = await asyncpg.connect(server.url.replace("+asyncpg", ""))
    try:
        await connection.execute("SET default_transaction_read_only = off")
        await connection.execute(f"ALTER SYSTEM SET {setting} = {value}")
        await connection.execute("SELECT pg_reload_conf()")
    finally:
        await connection.close()


# --- RabbitMQ -------------------------------------------------------------------------------------------


async def restart_broker(target: Target) -> str:
    assert target.rabbit
    await asyncio.to_thread(target.rabbit.restart)
    return "RabbitMQ"


async def crash_broker(target: Target) -> str:
    assert target.rabbit
    await asyncio.to_thread(target.rabbit.kill)
    await asyncio.to_thread(target.rabbit.start)
    return "RabbitMQ"


async def delete_a_queue(target: Target) -> str:
    assert target.rabbit
    queue = target.chance.choice(QUEUES)
    await asyncio.to_thread(target.rabbit.control, "delete_queue", queue)
    return queue


async def raise_memory_alarm(target: Target) -> str:
    assert target.rabbit
    seconds = target.a_while
    await asyncio.to_thread(target.rabbit.control, "set_vm_memory_high_watermark", "0.0000001")
    await asyncio.sleep(seconds)
    await asyncio.to_thread(target.rabbit.control, "set_vm_memory_high_watermark", "0.4")
    return f"for {seconds:.1f} s"


# --- all of them ----------------------------------------------------------------------------------------

LOSES_BROKER = {"restart_broker", "crash_broker", "cut_rabbitmq", "half_close_rabbitmq", "hold_rabbitmq"}
NETWORK = {"cut": _cut, "half_close": _half_close, "throttle": _throttle, "hold": _hold}


def possible(target: Target) -> tuple[dict[str, Fault], list[str]]:
    """What this combination can suffer here, by name; and what it cannot for want of something."""
    found: dict[str, Fault] = {
        one.__name__: one
        for one in (
            kill_a_process,
            kill_a_part,
            kill_children,
            kill_everything,
            stop_a_process,
            stop_everything,
        )
    }
    if target.disk.missing is None:
        found["fill_disk"] = fill_disk
    if target.machines[0].missing is None:
        found |= {"set_clock": set_clock, "slow_fsync": slow_fsync}
    for server in target.proxies:
        found |= {f"{name}_{server}": make(server) for name, make in NETWORK.items()}
    if target.postgres:
        found |= {one.__name__: one for one in (restart_database, crash_database, make_read_only)}
    if target.rabbit:
        broker = (restart_broker, crash_broker, delete_a_queue, raise_memory_alarm)
        found |= {one.__name__: one for one in broker}
    return found, [part.missing for part in (target.disk, target.machines[0]) if part.missing]


def recovery_seconds(name: str) -> float:
    """How long after its end everything may take to be well again: longer where the broker was lost."""
    return BROKER_RECOVERY_SECONDS if name in LOSES_BROKER else RECOVERY_SECONDS
