-- Clears the rest of a lane whose places are all empty. Needs jobs.lua.

-- Ends jobs that only its indexes name: native workers took them, and may have died with them.
local function clearIndexes(lane, ids, most, finish)
  for _, index in ipairs({ uniqueKey(lane), jidKey(lane) }) do
    while #ids < most do
      local pairs = redis.call('HRANDFIELD', index, math.min(most - #ids, 100), 'WITHVALUES')
      if #pairs == 0 then break end
      for at = 1, #pairs, 2 do
        redis.call('HDEL', index, pairs[at])
        finish(pairs[at + 1])
      end
    end
  end
end

-- Declares jobs up to the current id over: unnamed ones are ended when met.
local function noteCleared(lane)
  local last = redis.call('GET', laneKey('uid', lane))
  if last then redis.call('HSET', metaKey(lane), 'cleared', last) end
end
