-- Lists of when the last jobs under a rate were leased (ms), the latest first.

-- Drops times that are still to come: the server's clock was set back since.
local function dropLaterStarts(key, now)
  local first, last = 0, redis.call('LLEN', key)
  while first < last do
    local middle = math.floor((first + last) / 2)
    if tonumber(redis.call('LINDEX', key, middle)) > now then
      first = middle + 1
    else
      last = middle
    end
  end
  redis.call('LTRIM', key, first, -1)
end

-- How long until a rate (`jobs` in `per` ms) lets one more job start, ms.
function Rates.rateWait(key, jobs, per, now)
  local latest = jobs > 0 and tonumber(redis.call('LINDEX', key, 0) or nil)
  if not latest then return 0 end
  if latest > now then dropLaterStarts(key, now) end
  local start = tonumber(redis.call('LINDEX', key, jobs - 1) or nil)
  return start and math.max(0, start + per - now) or 0
end

function Rates.noteStart(key, jobs, per, now)
  redis.call('LPUSH', key, Keys.integer(now))
  redis.call('LTRIM', key, 0, jobs - 1)
  redis.call('PEXPIRE', key, Keys.integer(per))
end
