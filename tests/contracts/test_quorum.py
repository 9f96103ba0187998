"""Quorum queues: what of the contracts depends on the kind of queue.

The whole suite runs on them with `TEST_COMBINATIONS=postgresql+quorum pytest tests/contracts`; what changes a
queue's kind or arguments is in test_rabbitmq.py.
"""

from __future__ import annotations

import aiormq
import pytest

from tests.contracts import test_engine as engine_contract
from tests.contracts import test_transport as transport_contract
from tests.harness import Harness

test_two_workers_share = engine_contract.test_two_workers_share_many_requests_and_each_join_fires_once
test_doubled_copies = transport_contract.test_doubled_copies_have_one_effect
test_stopping = transport_contract.test_stop_ends_consumers_and_leaves_the_rest_to_others
test_unreadable = transport_contract.test_unreadable_message_is_kept_with_its_bytes_and_the_worker_lives
test_prefetch = transport_contract.test_unsettled_deliveries_are_limited_by_batch_and_slots


@pytest.fixture
def combination() -> str:
    return "postgresql+quorum"


async def test_deleted_queue_comes_back_with_its_consumer(engine: Harness, quorum_url: str) -> None:
    """And what was in it is published again."""
    engine.workflow("one", transport_contract.ONE)
    before = await engine.submit("one")
    connection = await aiormq.connect(quorum_url)
    await (await connection.channel()).queue_delete("q.work")
    await connection.close()
    await engine.start("work")
    after = await engine.submit("one")
    for request_id in (before, after):
        assert (await engine.finished(request_id)).status == "completed"
