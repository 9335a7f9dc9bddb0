-- Creates an open batch.
-- KEYS:
--   1 xg:batch:<bid>: hash
-- ARGV:
--   3 bid: string
--   4 parent (empty for none): string
--   5 description: string
--   6 and more, for the callbacks complete and success: number of strings, and the strings: lane, queue (its hint
--     index, empty for none), level, jid, fields and values of its hash
-- Returns 1, or 0 where the parent is not known.
local bid, parent, description = ARGV[3], ARGV[4], ARGV[5]
if parent ~= '' then
  if not redis.call('HGET', Keys.batch(parent), 'created') then return 0 end
  redis.call('HINCRBY', Keys.batch(parent), 'uncomplete', 1)
  redis.call('HINCRBY', Keys.batch(parent), 'unsuccess', 1)
  Batches.touchBatch(parent)
end
local created = Keys.integer(Keys.nowMs())
-- stylua: ignore
redis.call('HSET', KEYS[1], 'created', created, 'description', description, 'committed', 0, 'total', 0,
  'pending', 0, 'failed', 0, 'uncomplete', 0, 'unsuccess', 0)
if parent ~= '' then redis.call('HSET', KEYS[1], 'parent', parent) end
local at = 6
for _, what in ipairs({ 'complete', 'success' }) do
  local count = tonumber(ARGV[at])
  if count > 0 then
    redis.call('HSET', KEYS[1], 'calls:' .. what, 1)
    redis.call('RPUSH', KEYS[1] .. ':' .. what, unpack(ARGV, at + 1, at + count))
  end
  at = at + 1 + count
end
Batches.touchBatch(bid)
Batches.listBatch(bid, created)
return 1
