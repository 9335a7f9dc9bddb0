-- Describes a lane for the indexes that a cluster keeps in other slots.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
-- Returns { rank of its next job, its level, when its next scheduled job is due (ms), `open` or `auto` if consumers may
-- take its jobs, 1 if jobs have ended of which their batches do not know }, each empty for none.
local lane = ARGV[3]
local now = Keys.nowMs()
local _, rankOfHead, level = Levels.headOf(lane, now)
local due = redis.call('ZRANGE', Keys.queue(lane, 'scheduled'), 0, 0, 'WITHSCORES')[2]
local dueMs = due and tonumber(due) < 5e13 and Fields.due(due) or nil
-- The poll for due jobs brings jobs outside a list to native workers, and passes on turns.
local isWaiting = redis.call('EXISTS', Keys.turnWaiting(lane)) == 1
if isWaiting or redis.call('HEXISTS', Keys.meta(lane), 'aside') == 1 then
  dueMs = math.min(dueMs or math.huge, now + 1000)
end
return {
  rankOfHead and Keys.integer(rankOfHead) or '',
  level and Keys.integer(level) or '',
  dueMs and Keys.integer(dueMs) or '',
  Lanes.openness(lane, now) or '',
  redis.call('EXISTS', Keys.batchOutbox(lane)) == 1 and '1' or '',
}
