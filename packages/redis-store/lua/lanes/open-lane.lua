-- Opens a lane to consumers for good, or closes it until it is opened again.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- ARGV:
--   3 lane: string
--   4 queue (its hint index, empty for none): string
--   5 1 or 0: flag
-- Returns 1.
local lane, queue, now = ARGV[3], ARGV[4], Keys.nowMs()
local meta = Keys.meta(lane)
if redis.call('HGET', meta, 'open') == ARGV[5] then return 0 end
redis.call('HSET', meta, 'open', ARGV[5])
if ARGV[5] == '0' then
  if queue ~= '' then redis.call('ZREM', Keys.ready(queue), lane) end
  redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('closed', lane))
elseif Levels.headOf(lane, now) then
  Levels.hintReady(queue, lane, now)
  redis.call('PUBLISH', Keys.eventsChannel, Keys.framed('wake', lane, 1))
end
return 1
