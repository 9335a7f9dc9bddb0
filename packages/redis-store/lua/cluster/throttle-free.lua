-- In a cluster: jobs of a queue with a limit have ended. Who waits for room is woken by what is next in it.
-- KEYS: xg:slots:{queue}. ARGV: open, close, queue, then per job: lane, id.
--#include keys
--#include throttle
local freed = 0
for at = 4, #ARGV, 2 do freed = freed + freeSlot(ARGV[3], slotOf(ARGV[at], ARGV[at + 1])) end
if freed > 0 then
  local following = redis.call('ZRANGE', readyKey(ARGV[3]), 0, 0)[1]
  if following then redis.call('PUBLISH', eventsChannel, 'wake\0' .. following .. '\0' .. freed) end
end
return freed
