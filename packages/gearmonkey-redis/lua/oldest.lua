-- Since when the next job of each lane's queues has stood there.
-- KEYS: queue:{lane}:normal of the first. ARGV: open, close, lanes.
-- Returns per lane: milliseconds since 1970, or empty where nothing is queued.
--#include keys
local now, found = nowMs(), {}
for at = 3, #ARGV do
  local lane, oldest = ARGV[at], nil
  for _, band in ipairs({ 'high', 'normal', 'low' }) do
    local id = redis.call('LINDEX', queueKey(lane, band), -1)
    local since = id and tonumber(redis.call('HGET', jobKey(lane, id), 'enqueued') or now)
    if since and (not oldest or since < oldest) then oldest = since end
  end
  found[#found + 1] = oldest and integer(oldest) or ''
end
return found
