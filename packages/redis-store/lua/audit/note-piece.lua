-- Notes a piece of an act in the one entry that the act has: in place of the entry of the pieces before, which it counts.
-- KEYS:
--   1 xg:audit: stream
--   2 xg:act:<name>: string
-- ARGV:
--   3 the entry of the pieces before, as it was read (empty for none): string
--   4 the entry of all pieces: bytes
--   5 about how many entries are kept: integer
--   6 how long further pieces are waited for: integer, ms
-- Returns the id of the entry; an empty text, and nothing is noted, where another piece was noted since it was read.
if (redis.call('GET', KEYS[2]) or '') ~= ARGV[3] then return '' end
if ARGV[3] ~= '' then redis.call('XDEL', KEYS[1], ARGV[3]) end
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[5], '*', 'entry', ARGV[4])
redis.call('SET', KEYS[2], id, 'PX', ARGV[6])
return id
