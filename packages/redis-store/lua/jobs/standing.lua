-- Finds the place of a job, and its size.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 id: integer
-- Returns { place (queue, scheduled, busy, dead), its score (empty in a queue), bytes of the input, bytes of the output }, or
-- nothing where there is no such job.
local lane, id = ARGV[3], ARGV[4]
local key = Keys.job(lane, id)
if not Keys.jobFields(lane, id, 'status')[1] then return {} end
local input, output = redis.call('HSTRLEN', key, 'input'), redis.call('HSTRLEN', key, 'output')
local sets = { { 'busy', KEYS[1] }, { 'scheduled', Keys.queue(lane, 'scheduled') }, { 'dead', Keys.dead(lane) } }
for _, set in ipairs(sets) do
  local score = redis.call('ZSCORE', set[2], id)
  -- A job that waits for its turn is in the queue, see turns.lua.
  if score and set[1] == 'scheduled' and tonumber(score) >= 5e13 then break end
  if score then return { set[1], score, input, output } end
end
return { 'queue', '', input, output }
