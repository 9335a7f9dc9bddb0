-- Takes the next ids of a lane; returns the last of them. For each of `epochs` (0) it leaves out as many ids as a store can
-- lose, with as much again. Any native client may set the counter: nil and why where the ids would be no integers from 1 to
-- 2^53 - 1, above which two are read as one.
function Ids.takeIds(lane, count, epochs)
  local key, taken = Keys.of('uid', lane), count + (epochs or 0) * 1048576
  local last = redis.pcall('INCRBY', key, taken)
  if type(last) ~= 'number' then return nil, last.err end
  if last - taken >= 0 and last <= 9007199254740991 then return last end
  redis.call('DECRBY', key, taken)
  return nil, 'NOIDS ' .. key .. ' gives no ids from 1 to 9007199254740991: set it to the highest id of its jobs'
end

-- As takeIds; leaves out those of the epochs since that of the lane's last id.
function Ids.takeIdsOf(epoch, lane, count)
  local noted = redis.pcall('HGET', Keys.meta(lane), 'epoch')
  -- Where another program has put another type in its place, nothing can be noted.
  local epochs = type(noted) == 'table' and 0 or math.max(0, epoch - tonumber(noted or 0))
  local last, problem = Ids.takeIds(lane, count, epochs)
  if last and epochs > 0 then redis.call('HSET', Keys.meta(lane), 'epoch', Keys.integer(epoch)) end
  return last, problem
end
