-- Stores a note on a job, mostly from the worker that holds it.
-- KEYS:
--   1 xg:busy:{lane}: sorted set
-- ARGV:
--   3 lane: string
--   4 id: integer
--   5 token (empty: whoever holds it, if anybody): string
--   6 text (empty for none): string
--   7 1 if there is a text: flag
--   8 until when the job is to stay reserved at least (ms, empty for as it is: a lease is never cut short):
--     integer, ms
--   9 percent (empty for none): string
-- Returns 1, or 0 where the token is not the job's, or there is no job.
local lane, id, token, text, hasText, untilMs = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local key = Keys.job(lane, id)
local job = Keys.jobFields(lane, id, 'status', 'token')
if not job[1] or token ~= '' and job[2] ~= token then return 0 end
redis.call('HSET', key, 'noted', Keys.integer(Keys.nowMs()))
if hasText == '1' then redis.call('HSET', key, 'note', text) end
local percent = ARGV[9]
if percent ~= '' then redis.call('HSET', key, 'status:dividend', percent, 'status:divisor', '100') end
if untilMs ~= '' then redis.call('ZADD', KEYS[1], 'XX', 'GT', untilMs, id) end
return 1
