-- A band's list, and jobs of one level at its ends.
Bands.usual = { high = 8, normal = 5, low = 2 }

function Bands.bandOf(level)
  if level >= 7 then
    return 'high'
  elseif level >= 4 then
    return 'normal'
  end
  return 'low'
end

-- The level in a job's hash. Another program may use the field for something else.
function Bands.levelIn(text) return tonumber(text and string.match(text, '^[1-9]$') or 5) end

function Bands.levelOf(lane, id) return Bands.levelIn(Keys.jobFields(lane, id, 'level')[1]) end

function Bands.pushAll(command, key, ids)
  for first = 1, #ids, 1000 do
    redis.call(command, key, unpack(ids, first, math.min(first + 999, #ids)))
  end
end

function Bands.reversed(ids)
  local turned = {}
  for at = #ids, 1, -1 do
    turned[#turned + 1] = ids[at]
  end
  return turned
end

-- Takes the `count` jobs at one end that the hint gives for `level`, and puts others back. Jobs that native clients
-- pushed are not in the hint: short runs of them are taken along.
function Bands.takeLevel(lane, key, level, count, pop, push)
  local ids = redis.call(pop, key, count) or {}
  local last, strangers = pop == 'LPOP' and 0 or -1, 0
  while strangers < 32 do
    local id = redis.call('LINDEX', key, last)
    if not id then break end
    local job = Keys.jobFields(lane, id, 'level', 'door')
    if Bands.levelIn(job[1]) == level then
      strangers = 0
    elseif job[2] then
      break
    else
      strangers = strangers + 1
    end
    ids[#ids + 1] = redis.call(pop, key)
  end
  while #ids > 0 and Bands.levelOf(lane, ids[#ids]) ~= level do
    redis.call(push, key, table.remove(ids))
  end
  return ids
end
