-- Reads what makes up the figures of lanes, for those of their keys that changed: each lane's at one moment.
-- KEYS:
--   1 any of the keys below
-- ARGV:
--   1, 2 open and close: string, braces of a cluster or empty
--   3 one list, packed: numbers of lists, sorted sets and counts below; then queue:{lane}:{band}, each with the next id, if
--     since when that has been queued is known, or 0; xg:busy:{lane} and xg:dead:{lane}; count:{lane}; xg:lane:{lane}
-- Returns one list, packed, in this order: of a list its length, the next id (0 without one, or if it is the known one) and
-- since when that has been queued (us; 0: it has no time of its own), of a sorted set its length, of a count its value, of a
-- hash the lane's consumers, or -1 if jobs wait beside lists. After consumers: those with its label, and what gateOf says.
--#include fields
--#include lanes
--#include packed
local given, found, size = unpackedArguments(3), {}, 0
local call, pcall = redis.call, redis.pcall
local sets = 4 + 2 * given[1]
local counts = sets + given[2]
local hashes = counts + given[3]

-- Another program may have put another type in the place of a queue or a job.
for at = 4, sets - 1, 2 do
  local key = given[at]
  local length, id, since = tonumber(pcall('LLEN', key)) or 0, 0, 0
  if length > 0 then
    id = call('LINDEX', key, '-1')
    if id == given[at + 1] then
      id = 0
    else
      local enqueued = read.time(pcall('HGET', 'job' .. string.match(key, ':.*:') .. id, 'enqueued'))
      if enqueued and enqueued > 0 then since = math.floor(enqueued * 1000 + 0.5) end
    end
  end
  found[size + 1], found[size + 2], found[size + 3] = length, id, since
  size = size + 3
end
for at = sets, counts - 1 do
  size = size + 1
  found[size] = call('ZCARD', given[at])
end
for at = counts, hashes - 1 do
  size = size + 1
  found[size] = tonumber(pcall('GET', given[at])) or 0
end
-- Asked once, if at all.
local now
for at = hashes, #given do
  local key = given[at]
  size = size + 1
  found[size] = call('HGET', key, 'aside') and -1 or math.max(0, tonumber(call('HGET', key, 'consumers') or 0))
  if found[size] > 0 then
    if not now then
      local time = call('TIME')
      now = time[1] * 1000 + math.floor(time[2] / 1000)
    end
    local meta = call('HMGET', key, 'labelled', 'open', 'closed')
    found[size + 1], found[size + 2] = tonumber(meta[1] or 0), gateOf(meta[2], meta[3], now)
    size = size + 2
  end
end
return cmsgpack.pack(found)
