"""Each setting of the specification changes something that can be seen from outside."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiormq
import pytest

from bench.servers import _free_ports
from tests.processes import Processes, query_postgres, query_sqlite, until, waiting_on

GATED = "stages: [{name: gate, component: gate}]"
SLA = "SELECT sla_seconds FROM requests ORDER BY created_at"


@pytest.mark.parametrize("prefetch", [1, 3])
def test_prefetch_count_is_how_many_messages_a_worker_holds(prefetch: int, distributed: Processes) -> None:
    distributed.workflow("gated", GATED)
    distributed.open_gate("warm")
    url = distributed.settings.effective_rabbitmq_url
    distributed.submit("gated", times=4)
    assert asyncio.run(waiting_on(url, "q.gate")) == 4
    service = distributed.start(COMPONENT_NAME="gate", PREFETCH_COUNT=prefetch)
    until(lambda: distributed.entered() == prefetch, "it works on that many")
    until(lambda: asyncio.run(waiting_on(url, "q.gate")) == 4 - prefetch, "the others wait at the broker")
    assert distributed.entered() == prefetch
    distributed.open_gate("open")
    distributed.until_all("completed", 4)
    service.stop()


def test_message_ttl_is_declared_on_the_queues_and_can_be_changed(distributed: Processes) -> None:
    distributed.workflow("gated", GATED)
    url = distributed.settings.effective_rabbitmq_url
    for milliseconds in (7000, 9000):  # the second time the queues exist, with the old value
        assert distributed.run("request", "submit", "gated", MESSAGE_TTL_MS=milliseconds).code == 0
        assert f"current is '{milliseconds}'" in asyncio.run(_declare_otherwise(url, "q.ocr"))


def test_default_sla_is_the_deadline_of_workflows_without_one(embedded: Processes) -> None:
    embedded.workflow("gated", GATED)
    assert embedded.run("request", "submit", "gated").code == 0
    assert embedded.run("request", "submit", "gated", DEFAULT_SLA_SECONDS=90).code == 0
    (embedded.folder / ".env").write_text("DOCPROC_DEFAULT_SLA_SECONDS=120\n")
    assert embedded.run("request", "submit", "gated").code == 0
    seconds = "(julianday(deadline_utc) - julianday(created_at)) * 86400"
    found = embedded.query(f"SELECT round({seconds}) FROM requests ORDER BY created_at")
    assert [row[0] for row in found] == [60, 90, 120]
    assert [row[0] for row in embedded.query(SLA)] == [60, 90, 120]


def test_workflows_dir_is_where_workflows_come_from(embedded: Processes, tmp_path: Path) -> None:
    other = tmp_path / "others"
    other.mkdir()
    (other / "elsewhere.yaml").write_text(f"name: elsewhere\n{GATED}\n")
    embedded.workflow("gated", GATED)
    here = embedded.run("workflow", "list", "--json").json
    there = embedded.run("workflow", "list", "--json", WORKFLOWS_DIR=other).json
    names = [{row["name"] for row in rows} for rows in (here, there)]
    assert "gated" in names[0] - names[1]
    assert "elsewhere" in names[1] - names[0]


def test_health_port_is_where_the_process_answers(embedded: Processes) -> None:
    wanted, other = _free_ports(2)
    service = embedded.start(COMPONENT_NAME="work", HEALTH_PORT=wanted)
    service.until_status("/ready", 200)
    service.port = other
    assert service.status("/health") is None
    service.stop()


def test_database_url_is_where_requests_are_kept(
    embedded: Processes, tmp_path: Path, postgres_url: str
) -> None:
    embedded.workflow("gated", GATED)
    file = tmp_path / "deeper" / "other.db"
    assert embedded.run("request", "submit", "gated", DATABASE_URL=f"sqlite:///{file}").code == 0
    assert embedded.run("request", "submit", "gated", DATABASE_URL=postgres_url).code == 0
    assert not (tmp_path / "docproc.db").exists()
    count = "SELECT count(*) FROM requests"
    assert query_sqlite(file, count) == [(1,)]
    assert asyncio.run(query_postgres(postgres_url, count))[0][0] == 1


def test_rabbitmq_url_makes_the_broker_carry_the_messages(rabbitmq_url: str, distributed: Processes) -> None:
    distributed.workflow("gated", GATED)
    assert distributed.run("request", "submit", "gated", TRANSPORT="sql").code == 0
    assert asyncio.run(waiting_on(rabbitmq_url, "q.gate")) is None
    assert distributed.run("request", "submit", "gated").code == 0
    assert asyncio.run(waiting_on(rabbitmq_url, "q.gate")) == 1
    nowhere = distributed.run("request", "submit", "gated", RABBITMQ_URL="amqp://guest:guest@127.0.0.1:1/")
    assert nowhere.code == 1
    assert "RabbitMQ is out of reach" in nowhere.error and "Check DOCPROC_RABBITMQ_URL" in nowhere.error
    assert distributed.count("requests") == 2


async def _declare_otherwise(url: str, queue: str) -> str:
    """The broker's refusal names the argument it has."""
    connection = await aiormq.connect(url)
    try:
        channel = await connection.channel()
        arguments: dict[str, Any] = {
            "x-message-ttl": 1,
            "x-max-priority": 9,
            "x-dead-letter-exchange": "doc.dlx",
        }
        with pytest.raises(aiormq.exceptions.ChannelPreconditionFailed) as refused:
            await channel.queue_declare(queue, durable=True, arguments=arguments)
        return str(refused.value)
    finally:
        await connection.close()
