-- Leases of a holder have ended. A holder without any is forgotten.
-- KEYS: xg:holders. ARGV: open, close, holder, tokens.
--#include keys
local holder = ARGV[3]
for at = 4, #ARGV do redis.call('HDEL', heldKey(holder), ARGV[at]) end
if redis.call('EXISTS', heldKey(holder)) == 0 then redis.call('ZREM', KEYS[1], holder) end
return 1
