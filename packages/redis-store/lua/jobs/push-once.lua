-- In a cluster: pushes a job that the end of another one caused, once. That one's lane is in another slot.
-- KEYS:
--   1 uid:{lane}: string
-- ARGV:
--   3 lane: string
--   4 its cause: <bid>:<what> of a callback, or its jid: string
--   5 the store's epoch: integer
--   6 queue (its hint index, empty for none): string
--   7 level: string
--   8 jid: string
--   9 and more: fields and values of its hash: strings
-- Returns 1, 0 where it was pushed before, or -1 where the lane is to be registered first.
local lane = ARGV[3]
if not Pushed.isRegistered(lane, ARGV[6]) then return -1 end
local mark = Keys.uniqueLock(lane) .. ':callback ' .. ARGV[4]
if not redis.call('SET', mark, 1, 'NX', 'EX', Batches.batchSeconds) then return 0 end
local isStored, problem = Pushed.storePushed(lane, tonumber(ARGV[5]), ARGV, 6)
if isStored then return 1 end
redis.call('DEL', mark)
return redis.error_reply(problem)
