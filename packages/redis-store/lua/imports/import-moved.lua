-- Notes that the source no longer has these jobs.
-- KEYS:
--   1 uid:{lane}: string
-- ARGV:
--   3 lane: string
--   4 and more: import ids: strings
-- Returns 0.
local lane = ARGV[3]
for at = 4, #ARGV do
  local importId = ARGV[at]
  local key = Imports.importedKey(lane, importId)
  local noted = redis.call('HGET', key, importId)
  if noted and string.sub(noted, 1, 1) == 'c' then redis.call('HSET', key, importId, 'm' .. string.sub(noted, 2)) end
end
return 0
