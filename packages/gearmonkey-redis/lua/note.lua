-- Keeps what a worker notes on the job that it holds.
-- KEYS: xg:busy:{lane}. ARGV: open, close, lane, id, token, text (empty for none), 1 if there is a text,
-- until when the job is to stay reserved at least (ms, empty for as it is): a reservation is never cut short.
-- Returns 1, or 0 where the token is not the job's.
--#include keys
local lane, id, token, text, hasText, untilMs = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local key = jobKey(lane, id)
if redis.call('HGET', key, 'token') ~= token then return 0 end
redis.call('HSET', key, 'noted', integer(nowMs()))
if hasText == '1' then redis.call('HSET', key, 'note', text) end
if untilMs ~= '' then redis.call('ZADD', KEYS[1], 'XX', 'GT', untilMs, id) end
return 1
