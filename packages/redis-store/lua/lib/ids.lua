-- Takes the next ids of a lane; returns the last of them. For each of `epochs` (0) it leaves out as many ids as a store can
-- lose, with as much again. Any native client may set the counter: nil and why where the ids would be no integers from 1 to
-- 2^53 - 1, above which two are read as one. Needs keys.lua.
local function takeIds(lane, count, epochs)
  local key, taken = laneKey('uid', lane), count + (epochs or 0) * 1048576
  local last = redis.pcall('INCRBY', key, taken)
  if type(last) ~= 'number' then return nil, last.err end
  if last - taken >= 0 and last <= 9007199254740991 then return last end
  redis.call('DECRBY', key, taken)
  return nil, 'NOIDS ' .. key .. ' gives no ids from 1 to 9007199254740991: set it to the highest id of its jobs'
end
