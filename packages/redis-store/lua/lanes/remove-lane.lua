-- Notes that the queue of a lane was removed, and the last id by then. A lane with queued jobs is in use again.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- ARGV:
--   3 lane: string
-- Returns 1, or 0 where jobs are queued.
local lane = ARGV[3]
for _, band in ipairs(Keys.bands) do
  if redis.call('LLEN', Keys.queue(lane, band)) > 0 then return 0 end
end
if redis.call('HEXISTS', KEYS[1], 'aside') == 1 then return 0 end
redis.call('HSET', KEYS[1], 'removed', redis.call('GET', Keys.of('uid', lane)) or '0')
return 1
