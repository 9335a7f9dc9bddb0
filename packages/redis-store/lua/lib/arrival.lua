-- Gives a job another time in line (us). When it came stays known.
function Arrival.lineUp(key, us)
  local v = redis.call('HMGET', key, 'enqueued', 'arrived')
  if v[1] and not v[2] then redis.call('HSET', key, 'arrived', v[1]) end
  redis.call('HSET', key, 'enqueued', Keys.stamp(us))
end
