-- Takes what running jobs say; stores their progress and tells the other nodes whose clients wait.
-- KEYS: xg:busy:{lane}. ARGV: open, close, packed: lane, node, count, then per report: kind (data, warning,
-- status), id, token, and two strings: data and -, or dividend and divisor.
-- Returns a digit per report: 1, or 0 where the token is not the job's.
--#include keys
--#include jobs
--#include packed
local given = unpackedArguments(3)
local lane, node, results, at = given[1], given[2], {}, 4
for index = 1, given[3] do
  local kind, id, token, a, b = unpack(given, at, at + 4)
  at = at + 5
  local key = jobKey(lane, id)
  local job = redis.call('HMGET', key, 'token', 'wait')
  results[index] = 0
  if job[1] == token then
    results[index] = 1
    if kind == 'status' then
      redis.call('HSET', key, 'status:dividend', a, 'status:divisor', b)
      relay(lane, id, job[2], node, kind, a .. '\0' .. b)
    else
      relay(lane, id, job[2], node, kind, a)
    end
  end
end
return table.concat(results)
