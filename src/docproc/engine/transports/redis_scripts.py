"""What the redis transport has Redis do in one step: Lua scripts, and the keys they share.

Copies of a queue lie in several streams: one for each band, and one for those that go before everything. An
application may name the streams of a queue itself and then has one for each tenant, too. The sorted set
`queue:<name>` has the streams with something that nobody has taken, by rank. Entries are removed when they
are acknowledged, so the length of a stream is what is not handled.

The scripts find out themselves which streams they touch. Redis Cluster wants to know that beforehand; one
Redis with replicas is what this is made for.
"""

from __future__ import annotations

from typing import Final

PREFIX: Final = "docproc:"
# Gone after a flush or a restart without persistence: then the copies are gone as well.
EPOCH: Final = f"{PREFIX}epoch"
# Stream -> "rank queue", for all that are or were in use.
STREAMS: Final = f"{PREFIX}streams"
# Who is alive: consumer -> the millisecond (Redis' clock) at which it counts as dead.
CONSUMERS: Final = f"{PREFIX}consumers"
# Streams with entries that were delivered to somebody who is gone: the consumer RETURNED holds them.
RETURNED: Final = f"{PREFIX}returned"
# Whoever has this key looks for lost copies.
AUDITOR: Final = f"{PREFIX}auditor"
# Names of queues are published here when there is something new in them.
NEWS: Final = f"{PREFIX}news"
GROUP: Final = "docproc"

_COMMON = f"""
local EPOCH, STREAMS, CONSUMERS = '{EPOCH}', '{STREAMS}', '{CONSUMERS}'
local RETURNED, NEWS, GROUP, NOBODY = '{RETURNED}', '{NEWS}', '{GROUP}', '-'

local function waiting_key(queue) return '{PREFIX}queue:' .. queue end
local function consumers_key(queue) return '{PREFIX}consumers:' .. queue end

local function now_ms()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000), time[2] % 1000
end

-- Entries that a consumer was given: anybody may have them, in their old order.
local function free(stream, ids)
    local place = redis.call('HGET', STREAMS, stream)
    if not place or #ids == 0 then return end
    local rank, queue = string.match(place, '^(%d+) (.*)$')
    ids[#ids + 1] = 'JUSTID'
    redis.call('XCLAIM', stream, GROUP, NOBODY, 0, unpack(ids))
    redis.call('SADD', RETURNED, stream)
    redis.call('ZADD', waiting_key(queue), rank, stream)
    redis.call('PUBLISH', NEWS, queue)
end

local function pending(stream, consumer, count)
    local ids = {{}}
    local found = redis.pcall('XPENDING', stream, GROUP, '-', '+', count, consumer)
    if found.err then return ids end
    for _, entry in ipairs(found) do ids[#ids + 1] = entry[1] end
    return ids
end

local function free_all_of(consumer)
    for _, stream in ipairs(redis.call('HKEYS', STREAMS)) do
        local ids = pending(stream, consumer, 1000)
        while #ids > 0 do
            free(stream, ids)
            ids = pending(stream, consumer, 1000)
        end
        redis.pcall('XGROUP', 'DELCONSUMER', stream, GROUP, consumer)
    end
    redis.call('ZREM', CONSUMERS, consumer)
end
"""

# ARGV: lifetime of an entry (ms), number of streams, for each: stream, queue, rank, lifetime of the key (ms);
# then for each copy: number of its stream, message id, band, body. Returns the epoch.
PUBLISH: Final = (
    _COMMON
    + """
local ms, micros = now_ms()
local lifetime, streams = tonumber(ARGV[1]), tonumber(ARGV[2])
local at, keys = 3, {}
for n = 1, streams do
    local stream, queue, rank, ttl = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    if redis.call('EXISTS', stream) == 0 then
        redis.call('XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM')
    else
        redis.call('XTRIM', stream, 'MINID', '~', string.format('%.0f', ms - lifetime))
    end
    redis.call('PEXPIRE', stream, ttl)
    redis.call('HSET', STREAMS, stream, rank .. ' ' .. queue)
    redis.call('ZADD', waiting_key(queue), rank, stream)
    keys[n] = {stream, queue}
    at = at + 4
end
local number = 0
while at < #ARGV do
    local stream = keys[tonumber(ARGV[at])][1]
    local id = string.format('%.0f-%.0f', ms, micros * 1000000 + number)
    local fields = {'id', ARGV[at + 1], 'band', ARGV[at + 2], 'body', ARGV[at + 3]}
    local added = redis.pcall('XADD', stream, id, unpack(fields))
    if type(added) == 'table' and added.err then  -- the clock was set back: behind the last one, then
        redis.call('XADD', stream, '*', unpack(fields))
    end
    number = number + 1
    at = at + 4
end
local told = {}
for _, key in ipairs(keys) do
    if not told[key[2]] then redis.call('PUBLISH', NEWS, key[2]) end
    told[key[2]] = true
end
return redis.call('GET', EPOCH)
"""
)

# ARGV: queue, consumer, how many, how many of them may be aged, age of those (ms). Returns the epoch, then
# {stream, entry id, fields} of each entry taken: aged ones of lower ranks, then the highest rank first; of
# equal ones a stream after the other, so that each tenant's is read.
TAKE: Final = (
    _COMMON
    + """
local queue, consumer, room = ARGV[1], ARGV[2], tonumber(ARGV[3])
local out = {redis.call('GET', EPOCH) or ''}

local function read(stream, count)
    local found = redis.pcall('XREADGROUP', 'GROUP', GROUP, consumer, 'COUNT', count, 'STREAMS', stream, '>')
    if found and found.err then
        -- Written by another system before any of us, or gone.
        if redis.call('EXISTS', stream) == 0 then return {} end
        redis.call('XGROUP', 'CREATE', stream, GROUP, '0')
        found = redis.call('XREADGROUP', 'GROUP', GROUP, consumer, 'COUNT', count, 'STREAMS', stream, '>')
    end
    return found and found[1][2] or {}
end

local function take(stream, count)
    local taken = 0
    local function add(entries)
        for _, entry in ipairs(entries) do
            if entry and entry[2] then
                out[#out + 1] = {stream, entry[1], entry[2]}
                taken = taken + 1
            end
        end
    end
    if redis.call('SISMEMBER', RETURNED, stream) == 1 then
        local ids = pending(stream, NOBODY, count)
        if #ids > 0 then
            add(redis.call('XCLAIM', stream, GROUP, consumer, 0, unpack(ids)))
        else
            redis.call('SREM', RETURNED, stream)
        end
        if #ids == count then return count, taken end  -- whether or not they are all still there
    end
    if taken < count then add(read(stream, count - taken)) end
    return taken, taken
end

-- The millisecond at which the entry was added that would be taken next; nil: there is none.
local function next_since(stream)
    local id
    if redis.call('SISMEMBER', RETURNED, stream) == 1 then id = pending(stream, NOBODY, 1)[1] end
    if not id then
        local groups = redis.pcall('XINFO', 'GROUPS', stream)
        if groups.err then return nil end
        local last = '0-0'
        for _, group in ipairs(groups) do
            local info = {}
            for n = 1, #group, 2 do info[group[n]] = group[n + 1] end
            if info['name'] == GROUP then last = info['last-delivered-id'] end
        end
        local found = redis.call('XRANGE', stream, '(' .. last, '+', 'COUNT', 1)
        id = found[1] and found[1][1]
    end
    return id and tonumber(string.match(id, '^(%d+)-'))
end

-- What waits longest below the highest rank has its turn as well, or it might never come.
local function take_aged(count, age)
    local top = redis.call('ZREVRANGE', waiting_key(queue), 0, 0, 'WITHSCORES')[2]
    if not top then return end
    local now = now_ms()
    for _ = 1, count do
        local oldest, since = nil, now - age
        local below = redis.call('ZRANGEBYSCORE', waiting_key(queue), '-inf', '(' .. top, 'LIMIT', 0, 64)
        for _, stream in ipairs(below) do
            local at = next_since(stream)
            if at and at <= since then oldest, since = stream, at end
        end
        if not oldest then return end
        local _, taken = take(oldest, 1)
        room = room - taken
    end
end

local aged = tonumber(ARGV[4])
if aged > 0 then take_aged(aged, tonumber(ARGV[5])) end
local ranked = redis.call('ZREVRANGE', waiting_key(queue), 0, -1, 'WITHSCORES')
local at = 1
while at <= #ranked and room > 0 do
    local rank, streams = ranked[at + 1], {}
    while ranked[at + 1] == rank do
        streams[#streams + 1] = ranked[at]
        at = at + 2
    end
    local _, turn = now_ms()
    while #streams > 0 and room > 0 do
        local place = turn % #streams + 1
        local count = #streams == 1 and room or 1
        local seen, taken = take(streams[place], count)
        room = room - taken
        if seen < count then
            redis.call('ZREM', waiting_key(queue), streams[place])
            table.remove(streams, place)
        else
            turn = turn + 1
        end
    end
end
return out
"""
)

# ARGV: for each stream its name, how many, and the ids of entries that are done with.
ACKNOWLEDGE: Final = (
    _COMMON
    + """
local at = 1
while at < #ARGV do
    local stream, count = ARGV[at], tonumber(ARGV[at + 1])
    local ids = {unpack(ARGV, at + 2, at + 1 + count)}
    redis.pcall('XACK', stream, GROUP, unpack(ids))
    redis.pcall('XDEL', stream, unpack(ids))
    at = at + 2 + count
end
"""
)

# ARGV: consumer, how long it lives (ms), a name for the epoch if there is none, the queues it consumes.
# Returns the epoch, the clock (ms), and whether this call began the epoch.
BEAT: Final = (
    _COMMON
    + """
local consumer, until_ms, epoch = ARGV[1], now_ms() + tonumber(ARGV[2]), redis.call('GET', EPOCH)
local is_new = 0
if not epoch then
    epoch = ARGV[3] .. ':' .. string.format('%.0f', (now_ms()))
    redis.call('SET', EPOCH, epoch)
    is_new = 1
end
local newest = redis.call('ZREVRANGE', CONSUMERS, 0, 0, 'WITHSCORES')[2]
if newest and tonumber(newest) < now_ms() then
    -- Nobody was heard of: more likely Redis was away than all of them. They get their time again.
    for _, one in ipairs(redis.call('ZRANGE', CONSUMERS, 0, -1)) do
        redis.call('ZADD', CONSUMERS, until_ms, one)
    end
end
redis.call('ZADD', CONSUMERS, until_ms, consumer)
for n = 4, #ARGV do
    local queue = ARGV[n]
    redis.call('ZREMRANGEBYSCORE', consumers_key(queue), '-inf', (now_ms()))
    redis.call('ZADD', consumers_key(queue), until_ms, consumer)
    -- What another system wrote to a stream that none of us has used.
    for rank = 0, 9 do
        local stream = '%(prefix)s' .. queue .. ':' .. rank
        if redis.call('HEXISTS', STREAMS, stream) == 0 and redis.call('EXISTS', stream) == 1 then
            redis.call('HSET', STREAMS, stream, rank .. ' ' .. queue)
            redis.call('ZADD', waiting_key(queue), rank, stream)
        end
    end
end
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', CONSUMERS, '-inf', (now_ms()))) do free_all_of(dead) end
return {epoch, string.format('%.0f', (now_ms())), is_new}
""".replace("%(prefix)s", PREFIX)
)

# ARGV: consumer. It leaves: what it was given and did not acknowledge goes back.
LEAVE: Final = _COMMON + "free_all_of(ARGV[1])"

# ARGV: for each stream its name, how many, and the ids of entries that go back.
GIVE_BACK: Final = (
    _COMMON
    + """
local at = 1
while at < #ARGV do
    local stream, count = ARGV[at], tonumber(ARGV[at + 1])
    free(stream, {unpack(ARGV, at + 2, at + 1 + count)})
    at = at + 2 + count
end
"""
)

# ARGV: consumer. Returns {stream, entry id} of all that it was given and did not acknowledge.
HELD: Final = (
    _COMMON
    + """
local out = {}
for _, stream in ipairs(redis.call('HKEYS', STREAMS)) do
    for _, id in ipairs(pending(stream, ARGV[1], 10000)) do out[#out + 1] = {stream, id} end
end
return out
"""
)

# ARGV: queue. Returns how many entries wait, and how many consume.
LOOK: Final = (
    _COMMON
    + """
local waiting = 0
for _, stream in ipairs(redis.call('ZRANGE', waiting_key(ARGV[1]), 0, -1)) do
    local summary = redis.pcall('XPENDING', stream, GROUP)
    waiting = waiting + redis.call('XLEN', stream)
    for _, one in ipairs(not summary.err and summary[4] or {}) do
        if one[1] ~= NOBODY then waiting = waiting - tonumber(one[2]) end
    end
end
return {waiting, redis.call('ZCOUNT', consumers_key(ARGV[1]), (now_ms()), '+inf')}
"""
)

# Returns queue, stream and length of every stream there is; those that expired are forgotten.
COUNT: Final = (
    _COMMON
    + """
local out, places = {}, redis.call('HGETALL', STREAMS)
for n = 1, #places, 2 do
    local stream, rank, queue = places[n], string.match(places[n + 1], '^(%d+) (.*)$')
    if redis.call('EXISTS', stream) == 0 then
        redis.call('HDEL', STREAMS, stream)
        redis.call('ZREM', waiting_key(queue), stream)
        redis.call('SREM', RETURNED, stream)
    else
        local length = redis.call('XLEN', stream)
        -- Also where somebody removed the set of what waits.
        if length > 0 then redis.call('ZADD', waiting_key(queue), rank, stream) end
        out[#out + 1] = {queue, stream, length}
    end
end
return out
"""
)

# ARGV: stream, the entry to begin with, how many. Returns the last entry's id and the message ids found.
IDS: Final = """
local found = redis.call('XRANGE', ARGV[1], ARGV[2], '+', 'COUNT', ARGV[3])
local out = {#found > 0 and found[#found][1] or ''}
for _, entry in ipairs(found) do
    for n = 1, #entry[2], 2 do
        if entry[2][n] == 'id' then out[#out + 1] = entry[2][n + 1] end
    end
end
return out
"""
