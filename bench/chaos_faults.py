"""The faults of bench/chaos.py: each does harm, and undoes what would not end by itself."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import asyncpg
import psutil

from bench.chaos_deployment import Deployment
from bench.proxy import Proxy
from bench.servers import PostgresServer, RabbitServer

# How long a passing fault lasts.
SHORTEST_SECONDS, LONGEST_SECONDS = 0.5, 4.0


@dataclass
class Target:
    """All that can be harmed."""

    deployment: Deployment
    chance: random.Random
    postgres: PostgresServer | None = None
    rabbit: RabbitServer | None = None
    proxies: tuple[Proxy, ...] = ()

    @property
    def a_while(self) -> float:
        return self.chance.uniform(SHORTEST_SECONDS, LONGEST_SECONDS)


Fault = Callable[[Target], Awaitable[str]]


async def kill_a_process(target: Target) -> str:
    """Any process of the tree: supervisor, worker, child, API or monitor, idle or busy."""
    service, victim = target.chance.choice(target.deployment.processes())
    with contextlib.suppress(psutil.Error):
        victim.kill()
    return f"killed {victim.pid} of {service}"


async def stop_a_process(target: Target) -> str:
    """Stopped and continued: what it holds was taken over meanwhile."""
    service, victim = target.chance.choice(target.deployment.processes())
    seconds = target.a_while
    with contextlib.suppress(psutil.Error):
        victim.send_signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        victim.send_signal(signal.SIGCONT)
    return f"stopped {victim.pid} of {service} for {seconds:.1f} s"


async def cut_connections(target: Target) -> str:
    proxy = target.chance.choice(target.proxies)
    return f"cut {proxy.cut()} connections to port {proxy.target_port}"


async def half_close_connections(target: Target) -> str:
    proxy = target.chance.choice(target.proxies)
    return f"half-closed {proxy.half_close()} connections to port {proxy.target_port}"


async def slow_connections(target: Target) -> str:
    proxy, seconds = target.chance.choice(target.proxies), target.a_while
    proxy.delay_seconds = 0.05
    await asyncio.sleep(seconds)
    proxy.delay_seconds = 0.0
    return f"slowed port {proxy.target_port} for {seconds:.1f} s"


async def restart_database(target: Target) -> str:
    assert target.postgres
    await asyncio.to_thread(target.postgres.restart)
    return "restarted PostgreSQL"


async def make_read_only(target: Target) -> str:
    """As after a failover to a standby that is promoted late."""
    assert target.postgres
    seconds = target.a_while
    await _set_read_only(target.postgres, "on")
    await asyncio.sleep(seconds)
    await _set_read_only(target.postgres, "off")
    return f"PostgreSQL was read-only for {seconds:.1f} s"


async def _set_read_only(server: PostgresServer, value: str) -> None:
    connection = await asyncpg.connect(server.url.replace("+asyncpg", ""))
    try:
        await connection.execute("SET default_transaction_read_only = off")
        await connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
        await connection.execute("SELECT pg_reload_conf()")
    finally:
        await connection.close()


async def restart_broker(target: Target) -> str:
    assert target.rabbit
    await asyncio.to_thread(target.rabbit.restart)
    return "restarted RabbitMQ"


async def delete_a_queue(target: Target) -> str:
    queue = target.chance.choice(["q.fault_work", "q.fault_gather", "q.chaos_native", "q.workflow_router"])
    await _rabbitmqctl(target, "delete_queue", queue)
    return f"deleted {queue}"


async def raise_memory_alarm(target: Target) -> str:
    seconds = target.a_while
    await _rabbitmqctl(target, "set_vm_memory_high_watermark", "0.0000001")
    await asyncio.sleep(seconds)
    await _rabbitmqctl(target, "set_vm_memory_high_watermark", "0.4")
    return f"memory alarm for {seconds:.1f} s"


async def _rabbitmqctl(target: Target, *arguments: str) -> None:
    assert target.rabbit
    command = ["rabbitmqctl", "-q", "-n", target.rabbit.node, *arguments]
    process = await asyncio.create_subprocess_exec(
        *command,
        env=target.rabbit.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    await process.wait()


def possible(target: Target) -> list[Fault]:
    """What this combination can suffer."""
    found: list[Fault] = [kill_a_process, kill_a_process, stop_a_process]
    if target.postgres:
        found += [cut_connections, half_close_connections, slow_connections, restart_database, make_read_only]
    if target.rabbit:
        found += [restart_broker, delete_a_queue, raise_memory_alarm]
    return found
