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
--   9 queue (its hint index, empty for none): string
--   10 and more: ids: strings
-- Returns the ids that were ended, or 0 where the piece is too deep.
local key, lane, node, first, count = KEYS[1], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
-- Stands for an ended job until all of them are taken out at once; no id looks so.
local gap = '-'
local length = redis.call('LLEN', key)
-- Workers have taken some since the piece was looked at: its jobs stand nearer to the end.
local nearest, farthest = math.max(0, first - count), math.min(length, first + count)
local isNearBack = length - nearest < farthest
if math.min(farthest, length - nearest) > tonumber(ARGV[7]) then return 0 end
local act = Places.actOn(lane, ARGV[9], Keys.nowMs())
local wanted, ended = {}, {}
for at = 10, #ARGV do
  local job = Places.readPlaced(act, ARGV[at])
  -- A job that waits for its turn stands there.
  if tonumber(redis.call('ZSCORE', Keys.queue(lane, 'scheduled'), job.id) or 0) >= 5e13 then
    Places.takeScheduled(act, job)
    ended[#ended + 1] = job
  else
    wanted[job.id] = job
  end
end
local listed = 0
if farthest > nearest then
  for at, id in ipairs(redis.call('LRANGE', key, -farthest, -(nearest + 1))) do
    local job = wanted[id]
    if job then
      redis.call('LSET', key, length - farthest + at - 1, gap)
      ended[#ended + 1], wanted[id], listed = job, nil, listed + 1
      Places.leftPlace(act, job)
    end
  end
end
if #ended == 0 then return {} end
if listed > 0 then redis.call('LREM', key, isNearBack and listed or -listed, gap) end
local ids = {}
for at, job in ipairs(ended) do
  ids[at] = job.id
  if at > #ended - listed then Places.leftLevel(lane, job.level) end
  if job.status then Jobs.finishJob(lane, job, node, 'error', '') end
end
Books.bookTaken(lane, ARGV[8], #ids)
Places.endAct(act)
return ids
