-- Clears a lane.

-- Takes up to `most` jobs from an index of the lane: native workers took them, and may have died with them.
local function takeIndexed(lane, most)
  for _, index in ipairs({ Keys.unique(lane), Keys.jid(lane) }) do
    local pairs, found = redis.call('HRANDFIELD', index, math.min(most, 100), 'WITHVALUES'), {}
    for at = 1, #pairs, 2 do
      redis.call('HDEL', index, pairs[at])
      found[#found + 1] = pairs[at + 1]
    end
    if #found > 0 then return found end
  end
  return {}
end

-- Ends the jobs in the places of a lane, which `endPlaces` empties, then those that only its indexes name. The end of a job
-- may push the callback of its batch into the lane: that goes with the others.
function Orphans.endAll(act, ids, most, endPlaces, finish)
  repeat
    local before = #ids
    endPlaces()
    Books.bookTaken(act.lane, 'deleted', #ids - before)
    for _, id in ipairs(#ids < most and takeIndexed(act.lane, most - #ids) or {}) do
      finish(Places.readPlaced(act, id))
    end
  until #ids == before or #ids >= most
end

-- Declares jobs up to the current id over: unnamed ones are ended when met.
function Orphans.noteCleared(lane)
  local last = redis.call('GET', Keys.of('uid', lane))
  if last then redis.call('HSET', Keys.meta(lane), 'cleared', last) end
end
