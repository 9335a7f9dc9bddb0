-- Finds the nodes with worker counts in lanes, and those whose by-name workers have had a job of them for longest. Sums of
-- these counts that are wrong are mended.
-- KEYS:
--   1 xg:lane:{lane} of the first: hash
-- ARGV:
--   3 and more: lanes: strings
-- Returns a list of nodes.
local found, seen = {}, {}

local function note(node)
  if not node or seen[node] then return end
  seen[node], found[#found + 1] = true, node
end

-- Sums of the nodes' counts in a lane, by their prefix.
local function sumsOf(lane)
  local sums, told = { n = 0, c = 0, l = 0 }, {}
  local pairs = redis.pcall('HGETALL', Keys.meta(lane))
  for at = 1, #pairs, 2 do
    local kind, node = string.match(pairs[at], '^([ncl]):(.+)$')
    if kind then
      note(node)
      sums[kind] = sums[kind] + tonumber(pairs[at + 1])
    else
      told[pairs[at]] = pairs[at + 1]
    end
  end
  return sums, told
end

local function mend(lane, name, sum, told)
  if sum ~= (tonumber(told) or 0) then redis.call('HSET', Keys.meta(lane), name, sum) end
end

-- Leases without a deadline come last, and the first of them at the very end: see noDeadline in leases.lua.
local oldest = 20
for at = 3, #ARGV do
  local lane = ARGV[at]
  -- Lists are empty where another program has put another type in the place of a key.
  local sums, told = sumsOf(lane)
  mend(lane, 'consumers', sums.c, told.consumers)
  mend(lane, 'labelled', sums.l, told.labelled)
  -- More than their sum: native workers.
  local lacking = sums.n + sums.c - Keys.countedWorkers(lane)
  if lacking > 0 then redis.pcall('INCRBY', Keys.of('count', lane), lacking) end
  for _, id in ipairs(redis.pcall('ZRANGE', Keys.busy(lane), -oldest, -1)) do
    note(string.match(Keys.jobFields(lane, id, 'token')[1] or '', '^n(.+)%-%d+$'))
  end
end
return found
