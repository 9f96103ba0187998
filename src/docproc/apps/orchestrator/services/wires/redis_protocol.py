"""What orchestrators and services agree on in Redis: keys, fields, and who has which entry for how long.

A queue of a service is a stream with the consumer group `services`. Each entry has the fields `envelope`
(JSON), `call_id`, `fencing` and `expires_at` (milliseconds since 1970). A service takes entries with
XREADGROUP, says that it is still at one with XCLAIM … JUSTID, and when its answer is in the stream
`orchestrator:answers` it removes the entry (XACK, XDEL). An entry that nobody has claimed for so long as
`port.LEASE_SECONDS` is given to others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

SERVICES: Final = "services"
ANSWERS: Final = "orchestrator:answers"
ORCHESTRATORS: Final = "orchestrator"
EPOCH: Final = "orchestrator:epoch"
# Where the envelope of a call is: "fencing entry-id".
CALL: Final = "orchestrator:call:"

# An orchestrator writes answers to the database at once: if it has not, it is dead or the database is away.
ANSWER_LEASE_SECONDS: Final = 4.0
# A queue without new envelopes expires after that; no call is open so long.
QUEUE_SECONDS: Final = 2 * 3600

TIMEOUT_SECONDS: Final = 5.0
# Of one client; whoever finds none free waits for one.
CONNECTIONS: Final = 16

# ARGV: lease of an entry (ms), lifetime of a queue (ms); for each envelope: queue, call id, fencing, expiry
# (ms since 1970), JSON. Where the same envelope still lies in the queue, or a service is at it, nothing is
# added: so it may be sent as often as one likes. Returns how many were added.
SEND: Final = f"""
local lease, lifetime = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local prepared, added = {{}}, 0

local function parts(id)
    local ms, number = string.match(id, '^(%d+)-(%d+)$')
    return tonumber(ms), tonumber(number)
end

local function was_delivered(queue, id)
    for _, group in ipairs(redis.call('XINFO', 'GROUPS', queue)) do
        local info = {{}}
        for n = 1, #group, 2 do info[group[n]] = group[n + 1] end
        if info['name'] == '{SERVICES}' then
            local ms, number = parts(id)
            local last_ms, last_number = parts(info['last-delivered-id'])
            return ms < last_ms or (ms == last_ms and number <= last_number)
        end
    end
    return false
end

-- Whether a service will see the entry, or is at it.
local function is_under_way(queue, id)
    if #redis.call('XRANGE', queue, id, id) == 0 then return false end
    local held = redis.call('XPENDING', queue, '{SERVICES}', id, id, 1)
    if #held > 0 then return tonumber(held[1][3]) < lease end
    return not was_delivered(queue, id)
end

local function remove(queue, id)
    redis.pcall('XACK', queue, '{SERVICES}', id)
    redis.pcall('XDEL', queue, id)
end

for at = 3, #ARGV, 5 do
    local queue, call, fencing, expiry, body = unpack(ARGV, at, at + 4)
    if not prepared[queue] then
        redis.pcall('XGROUP', 'CREATE', queue, '{SERVICES}', '0', 'MKSTREAM')
        redis.call('PEXPIRE', queue, lifetime)
        prepared[queue] = true
    end
    local known = redis.call('GET', '{CALL}' .. call)
    local old_fencing, old_id, old_queue
    if known then old_fencing, old_id, old_queue = string.match(known, '^(%S+) (%S+) (.*)$') end
    if not (old_fencing == fencing and old_queue == queue and is_under_way(queue, old_id)) then
        if old_id then remove(old_queue, old_id) end
        local id = redis.call(
            'XADD', queue, '*', 'envelope', body, 'call_id', call, 'fencing', fencing, 'expires_at', expiry
        )
        local left = math.max(tonumber(expiry) - now, 0) + 60000
        local place = fencing .. ' ' .. id .. ' ' .. queue
        redis.call('SET', '{CALL}' .. call, place, 'PX', string.format('%.0f', left))
        added = added + 1
    end
end
return added
"""

# ARGV: calls that are over, each with the fencing number of its last envelope: nobody has to begin with that
# one or an earlier one. A later one belongs to another attempt, and stays.
WITHDRAW: Final = f"""
for at = 1, #ARGV, 2 do
    local call, fencing = ARGV[at], tonumber(ARGV[at + 1])
    local known = redis.call('GET', '{CALL}' .. call) or ''
    local number, id, queue = string.match(known, '^(%S+) (%S+) (.*)$')
    if number and tonumber(number) <= fencing then
        redis.pcall('XACK', queue, '{SERVICES}', id)
        redis.pcall('XDEL', queue, id)
        redis.call('DEL', '{CALL}' .. call)
    end
end
"""

# ARGV: a name for the epoch if there is none. Returns the epoch and its age in milliseconds.
LOOK: Final = f"""
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch = redis.call('GET', '{EPOCH}')
if not epoch then
    epoch = ARGV[1] .. ':' .. string.format('%.0f', now)
    redis.call('SET', '{EPOCH}', epoch)
end
return {{epoch, string.format('%.0f', now - tonumber(string.match(epoch, ':(%d+)$')))}}
"""


def streams(found: Any) -> Iterator[tuple[bytes, Any]]:
    """Streams and their entries, in either form that the library gives a reply in."""
    for stream, entries in found.items() if isinstance(found, dict) else found or ():
        nested = bool(entries) and isinstance(entries[0], list)
        yield stream, [one for group in entries for one in group] if nested else entries


def client(url: str) -> Redis:
    """Tries once more: a connection may have been lost while it lay idle. Whatever is done here may be done
    twice."""
    pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
        url,
        max_connections=CONNECTIONS,
        timeout=TIMEOUT_SECONDS,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        socket_keepalive=True,
        retry=Retry(NoBackoff(), 1),
    )
    return Redis.from_pool(pool)
