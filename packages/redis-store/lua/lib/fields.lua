-- Values in a job's hash as the broker writes them; nil for all others, which another program may have put there. The
-- twin of job-fields.ts.

-- The door by which a job came; nil for a native client. The twin of isDoorName.
function Fields.doorIn(text)
  return text and text ~= 'native' and #text <= 32 and string.find(text, '^%l[%l%d-]*$') and text or nil
end

-- No comparison holds for nan.
-- A whole number of 0 and more.
function Fields.whole(text, most)
  local number = tonumber(text)
  if number and number >= 0 and number <= (most or 999999999999999) and number % 1 == 0 then return number end
end

-- Milliseconds since 1970, up to the year 9999.
function Fields.time(text)
  local number = tonumber(text)
  if number and number >= 0 and number <= 253402300799999 then return number end
end

-- When a scheduled job is due (ms), as a number that a set takes: of a native program's any score.
function Fields.due(score) return math.max(0, math.min(math.ceil(tonumber(score) * 1000), 9e15)) end

-- True for a time (ms, as text) that has come.
function Fields.isStale(text, now)
  local ms = tonumber(text)
  return ms and ms >= -9e15 and ms <= now
end

-- The nodes with waiting clients, up to some 1,000; empty where the last client has left.
function Fields.wait(text) return text and #text <= 16384 and text or nil end

-- True for a job whose outcome is for its client alone. The broker stores both fields together, and keeps them.
function Fields.isForeground(door, fg, wait)
  return fg == '1' and wait and #wait <= 16384 and Fields.doorIn(door) and true or false
end

-- The broker writes the mark together with the status.
function Fields.isSettled(settled, status) return settled and (status == 'success' or status == 'error') end
