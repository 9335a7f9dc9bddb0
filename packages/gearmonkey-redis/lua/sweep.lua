-- Looks through a piece of an index of unfinished jobs for those that a native worker finished unheard,
-- and forgets the entries of jobs that are gone.
-- KEYS: xg:unique:{lane} or xg:jid:{lane}. ARGV: open, close, lane, cursor, entries to look at.
-- Returns { next cursor (0: that was all), ids ... }.
--#include keys
--#include native
local lane = ARGV[3]
local page = redis.call('HSCAN', KEYS[1], ARGV[4], 'COUNT', ARGV[5])
local answer, pairs = { page[1] }, page[2]
for at = 1, #pairs, 2 do
  local id = pairs[at + 1]
  if isUnsettled(lane, id) then
    answer[#answer + 1] = id
  elseif redis.call('EXISTS', jobKey(lane, id)) == 0 then
    redis.call('HDEL', KEYS[1], pairs[at])
  end
end
return answer
