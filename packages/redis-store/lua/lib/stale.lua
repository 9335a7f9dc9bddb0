-- Ends a job that has waited too long.

local monthDays = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

-- A time (ms since 1970) as Faktory writes it.
local function rfc3339(ms)
  local days, seconds, year, month = math.floor(ms / 86400000), math.floor(ms / 1000) % 86400, 1970, 1
  local function isLeap() return year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0) end
  local function daysOf() return month == 2 and isLeap() and 29 or monthDays[month] end
  while days >= (isLeap() and 366 or 365) do
    days, year = days - (isLeap() and 366 or 365), year + 1
  end
  while days >= daysOf() do
    days, month = days - daysOf(), month + 1
  end
  local hours, minutes = math.floor(seconds / 3600), math.floor(seconds / 60) % 60
  local form = '%04d-%02d-%02dT%02d:%02d:%02d.%03dZ'
  return string.format(form, year, month, days + 1, hours, minutes, seconds % 60, ms % 1000)
end

-- `fields`: those of its hash. A background job with `dies_stale` goes to the dead set, with its last failure if it has
-- one. Returns how it is counted: expired or died.
function Stale.endStale(lane, id, fields, node, now, most, seconds)
  local job = { id = id, door = fields.door, unique = fields.unique, jid = fields.jid, waiting = fields.wait }
  job.keep, job.how = fields.keep, 'expired'
  if fields.dies_stale ~= '1' or Fields.isForeground(fields.door, fields.fg, fields.wait) then
    Jobs.finishJob(lane, job, node, 'error', 'expired')
    Books.book(lane, 'expired', 1)
    return 'expired'
  end
  local key, message = Keys.job(lane, id), 'it waited longer than its route allows'
  redis.call('HSET', key, 'output', message)
  local failure = { errtype = 'Expired', message = message, retry_count = 0, remaining = 0, failed_at = rfc3339(now) }
  redis.call('HSETNX', key, 'failure', cjson.encode(failure))
  -- An operator may run it all the same.
  redis.call('HDEL', key, 'stale', 'dies_stale')
  Dead.buryJob(lane, job, node, now, most, seconds, 'died')
  return 'died'
end
