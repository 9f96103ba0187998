"""Which stream of Redis a copy goes to, and what an entry of a stream says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import orjson

from docproc.engine.fair_order import HIGHEST_BAND
from docproc.engine.transport import Copy, Delivery
from docproc.engine.transports.redis_scripts import PREFIX
from docproc.errors import ConfigurationError

# Above every band: copies that go before everything.
FIRST_RANK = HIGHEST_BAND + 1
# However the lifetime of copies is set, keys that an application names live so long after the last entry.
LEAST_NAMED_SECONDS, MOST_NAMED_SECONDS = 300, 3600


@dataclass(frozen=True, slots=True)
class Stream:
    key: str
    queue: str
    rank: int
    ttl_ms: int


class Streams:
    """The streams of every queue, by the patterns that applications gave."""

    def __init__(self, patterns: Mapping[str, str], ttl_ms: int) -> None:
        """`patterns` have the places {tenant} and {priority}, 0 for the most urgent."""
        self.patterns = dict(patterns)
        self.ttl_ms = ttl_ms
        self.named_ttl_ms = 1000 * min(max(ttl_ms // 1000, LEAST_NAMED_SECONDS), MOST_NAMED_SECONDS)
        shared = {one for one in self.patterns.values() if list(self.patterns.values()).count(one) > 1}
        if shared:
            raise ConfigurationError(
                f"several queues have the streams {sorted(shared)}",
                remedy="Give each component streams of its own",
            )

    def of(self, copy: Copy) -> Stream:
        rank = FIRST_RANK if copy.goes_first else copy.band
        pattern = self.patterns.get(copy.queue)
        if pattern is None:
            name = "first" if copy.goes_first else copy.band
            return Stream(f"{PREFIX}{copy.queue}:{name}", copy.queue, rank, self.ttl_ms)
        place = "first" if copy.goes_first else HIGHEST_BAND - copy.band
        key = pattern.format(tenant=_tenant_of(copy.body), priority=place)
        return Stream(key, copy.queue, rank, self.named_ttl_ms)

    def arguments(self, copies: Sequence[Copy]) -> list[str | bytes | int]:
        """What the script PUBLISH takes."""
        numbers: dict[Stream, int] = {}
        entries: list[str | bytes | int] = []
        for copy in copies:
            number = numbers.setdefault(self.of(copy), len(numbers) + 1)
            entries += (number, str(copy.message_id), copy.band, copy.body)
        streams = [x for one in numbers for x in (one.key, one.queue, one.rank, one.ttl_ms)]
        return [self.ttl_ms, len(numbers), *streams, *entries]


def _tenant_of(body: bytes) -> str:
    return str(orjson.loads(body).get("tenant_id", "default"))


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a delivery lies, for settling it."""

    stream: bytes
    id: bytes


def delivery(queue: str, taken: Sequence[object]) -> Delivery:
    """Of what the script TAKE gives for one entry."""
    stream, entry_id, flat = taken
    assert isinstance(stream, bytes)
    assert isinstance(entry_id, bytes)
    assert isinstance(flat, list)
    fields = dict(zip(flat[::2], flat[1::2], strict=True))
    own = _uuid(fields.get(b"id"))
    body = fields.get(b"body")
    if body is None:  # another system's, and not as it should be: kept for whoever reads dead letters
        body = json.dumps({k.decode("latin-1"): v.decode("latin-1") for k, v in fields.items()}).encode()
    return Delivery(
        queue=queue,
        body=body,
        message_id=own,
        band=int(fields[b"band"]) if own and b"band" in fields else None,
        is_own=own is not None,
        handle=Entry(stream, entry_id),
    )


def _uuid(value: bytes | None) -> UUID | None:
    try:
        return UUID(value.decode()) if value else None
    except ValueError:
        return None
