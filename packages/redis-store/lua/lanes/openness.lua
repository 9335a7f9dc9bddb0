-- Tells if consumers get jobs of a lane, and why.
-- KEYS:
--   1 xg:lane:{lane}: hash
-- ARGV:
--   3 lane: string
-- Returns { open, shut (by an operator), closed or auto; until when it is closed (ms); its by-name workers }.
local now = Keys.nowMs()
local meta = redis.call('HMGET', KEYS[1], 'open', 'closed', 'consumers')
local state = Lanes.opennessOf(ARGV[3], meta[1], meta[2], meta[3], now) or (meta[1] and 'shut' or 'closed')
return { state, meta[2] or '0', math.max(0, Lanes.namedWorkers(ARGV[3], meta[3])) }
