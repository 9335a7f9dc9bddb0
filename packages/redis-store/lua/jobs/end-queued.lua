-- Ends jobs that stand in one piece of a queue, of which no other job changes its place. Jobs deep in a long queue are left: a
-- list finds them by counting.
-- KEYS:
--   1 queue:{lane}:{band}: list
-- ARGV:
--   3 lane: string
--   4 node: string
--   5 first: integer, jobs that are taken before those of the piece
--   6 count: integer, jobs of the piece
--   7 how deep the piece may be, from the nearer end: integer
--   8 as which they are counted (see books.lua): string
--   9 and more: ids: strings
-- Returns the ids that were ended, or 0 where the piece is too deep.
--#include keys
--#include levels
--#include jobs
--#include books
local key, lane, node, first, count = KEYS[1], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
-- Stands for an ended job until all of them are taken out at once; no id looks so.
local ended = '-'
local length = redis.call('LLEN', key)
-- Workers have taken some since the piece was looked at: its jobs stand nearer to the end.
local nearest, farthest = math.max(0, first - count), math.min(length, first + count)
local isNearBack = length - nearest < farthest
if math.min(farthest, length - nearest) > tonumber(ARGV[7]) then return 0 end
local wanted, ids, inTurns = {}, {}, {}
for at = 9, #ARGV do
  -- Jobs that wait for their turn stand there: see turns.lua.
  local scheduled, id = queueKey(lane, 'scheduled'), ARGV[at]
  if tonumber(redis.call('ZSCORE', scheduled, id) or 0) >= 5e13 then
    redis.call('ZREM', scheduled, id)
    ids[#ids + 1], inTurns[id] = id, true
  else
    wanted[id] = true
  end
end
local listed = 0
if farthest > nearest then
  for at, id in ipairs(redis.call('LRANGE', key, -farthest, -(nearest + 1))) do
    if wanted[id] then
      redis.call('LSET', key, length - farthest + at - 1, ended)
      ids[#ids + 1], wanted[id], listed = id, nil, listed + 1
    end
  end
end
if #ids == 0 then return ids end
if listed > 0 then redis.call('LREM', key, isNearBack and listed or -listed, ended) end
for _, id in ipairs(ids) do
  local v = jobFields(lane, id, 'status', 'door', 'unique', 'jid', 'wait', 'keep', 'level')
  if v[7] and not inTurns[id] then tookLevel(lane, v[7]) end
  if v[1] then
    finishJob(lane, { id = id, door = v[2], unique = v[3], jid = v[4], waiting = v[5], keep = v[6] }, node, 'error', '')
  end
end
bookTaken(lane, ARGV[8], #ids)
return ids
