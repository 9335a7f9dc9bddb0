-- A job that dies tells somebody: a job of its choice is pushed in the same step.
-- Numbers of lanes in jids are to this base.
local base36 = '0123456789abcdefghijklmnopqrstuvwxyz'

-- The jid by which workers know a job that has none of its own: see jids.ts.
local function shownJid(lane, id)
  local number, text = tonumber(redis.call('HGET', Keys.meta(lane), 'number') or 0), ''
  repeat
    local digit = number % 36 + 1
    text, number = string.sub(base36, digit, digit) .. text, math.floor(number / 36)
  until number == 0
  local prefix = 'xg-' .. text .. '-'
  return prefix .. string.rep('0', 8 - #prefix - #id) .. id
end

-- The job to push, as death-call.ts writes it: texts by name; nil for anything else, which another program wrote.
local function readDeathCall(text)
  local isSound, call = pcall(cjson.decode, text)
  if not isSound or type(call) ~= 'table' then return nil end
  for _, name in ipairs({ 'lane', 'queue', 'level', 'args', 'about', 'envelope' }) do
    if type(call[name]) ~= 'string' then return nil end
  end
  return call.lane ~= '' and string.find(call.level, '^[1-9]$') and call or nil
end

-- Pushes the job that tells of the death of another one. Its last argument says which died, and of what.
function Deaths.tellOfDeath(lane, job, text, now)
  local call = readDeathCall(text)
  if not call then return end
  local failure = redis.call('HGET', Keys.job(lane, job.id), 'failure') or 'null'
  if string.sub(failure, 1, 1) ~= '{' or not pcall(cjson.decode, failure) then failure = 'null' end
  local shown = shownJid(lane, job.id)
  local died = call.about .. ',"jid":' .. cjson.encode(job.jid or shown) .. ',"failure":' .. failure .. '}'
  -- Each death has a jid of its own, if an operator lets the job run again.
  local jid = 'died-' .. string.sub(shown, 4) .. '-' .. Keys.integer(now)
  -- stylua: ignore
  local words = { Keys.isCluster and '' or call.queue, call.level, jid, 'door', 'faktory', 'jid', jid, 'envelope', call.envelope,
    'level', call.level, 'input', call.args .. died .. ']' }
  for _, name in ipairs({ 'retries', 'reserve_for' }) do
    if type(call[name]) == 'string' then
      words[#words + 1], words[#words + 2] = name, call[name]
    end
  end
  if Keys.isCluster then
    table.insert(words, 1, call.lane)
    redis.call('SADD', Keys.batchOutbox(lane), 'death ' .. cjson.encode(words))
    return
  end
  -- Where there are too many lanes, the job is found as those of native programs are.
  Pushed.isRegistered(call.lane, call.queue)
  Pushed.storePushed(call.lane, Pushed.storedEpoch(), words, 1)
end
