"""Which stream a copy goes to, and what an entry says of itself."""

from __future__ import annotations

import json
from dataclasses import replace
from uuid import uuid4

import pytest

from docproc.engine.component_spec import ComponentSpec
from docproc.engine.message import PipelineMessage
from docproc.engine.transport import Copy, Topology
from docproc.engine.transports.redis_streams import FIRST_RANK, Streams, delivery
from docproc.errors import ConfigurationError

PATTERN = "orchestrator:tasks:{tenant}:{priority}"


def copy(band: int = 5, queue: str = "q.work", **fields: object) -> Copy:
    message = PipelineMessage.model_validate({"request_id": uuid4(), **fields})
    return Copy(message.message_id, "doc.direct", "work", queue, band, message.encode())


@pytest.mark.parametrize(("band", "key"), [(9, "docproc:q.work:9"), (0, "docproc:q.work:0")])
def test_queue_has_a_stream_for_each_band(band: int, key: str) -> None:
    stream = Streams({}, 300_000).of(copy(band))
    assert (stream.key, stream.rank, stream.ttl_ms) == (key, band, 300_000)


@pytest.mark.parametrize(
    ("band", "key"), [(9, "orchestrator:tasks:acme:0"), (6, "orchestrator:tasks:acme:3")]
)
def test_named_streams_count_priorities_from_the_most_urgent(band: int, key: str) -> None:
    stream = Streams({"q.work": PATTERN}, 300_000).of(copy(band, tenant_id="acme"))
    assert (stream.key, stream.rank) == (key, band)


def test_copies_that_go_first_are_above_every_band() -> None:
    first = replace(copy(2, tenant_id="acme"), goes_first=True)
    plain, named = Streams({}, 300_000).of(first), Streams({"q.work": PATTERN}, 300_000).of(first)
    assert (plain.key, plain.rank) == ("docproc:q.work:first", FIRST_RANK)
    assert (named.key, named.rank) == ("orchestrator:tasks:acme:first", FIRST_RANK)


@pytest.mark.parametrize(
    ("ttl_ms", "named"), [(700, 300_000), (300_000, 300_000), (900_000, 900_000), (9e6, 3_600_000)]
)
def test_named_streams_live_for_five_to_sixty_minutes(ttl_ms: float, named: int) -> None:
    assert Streams({"q.work": PATTERN}, int(ttl_ms)).of(copy()).ttl_ms == named


def test_arguments_name_each_stream_once() -> None:
    one, two, three = copy(5), copy(9), copy(5)
    arguments = Streams({}, 300_000).arguments([one, two, three])
    assert arguments[:2] == [300_000, 2]
    assert arguments[2:10] == [
        "docproc:q.work:5",
        "q.work",
        5,
        300_000,
        "docproc:q.work:9",
        "q.work",
        9,
        300_000,
    ]
    assert arguments[10::4] == [1, 2, 1]
    assert arguments[11::4] == [str(each.message_id) for each in (one, two, three)]


def test_two_queues_cannot_share_streams() -> None:
    components = [ComponentSpec(name, streams=PATTERN) for name in ("a", "b")]
    with pytest.raises(ConfigurationError, match="several queues"):
        Streams(Topology.of(components).streams, 300_000)


def test_own_entry_says_which_row_it_is_a_copy_of() -> None:
    message_id = uuid4()
    fields = [b"id", str(message_id).encode(), b"band", b"7", b"body", b"{}"]
    found = delivery("q.work", [b"stream", b"1-0", fields])
    assert (found.message_id, found.band, found.body, found.is_own) == (message_id, 7, b"{}", True)


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ([b"body", b"{not json"], b"{not json"),
        ([b"id", b"mine", b"body", b"x"], b"x"),
        ([b"hello", b"world\xff"], json.dumps({"hello": "world\u00ff"}).encode()),
    ],
)
def test_entry_of_another_system_is_carried_as_it_is(fields: list[bytes], body: bytes) -> None:
    found = delivery("q.work", [b"stream", b"1-0", fields])
    assert (found.message_id, found.is_own, found.body) == (None, False, body)
