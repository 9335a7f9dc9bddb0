-- Leases that a job lost before their worker ended it, in its field `former`, the newest last: that worker's outcome may still
-- come.
Former.most = 16

-- The tokens; none where another program wrote the field.
function Former.of(text)
  local tokens = {}
  for token in string.gmatch(text and #text <= 2048 and text or '', '%S+') do
    tokens[#tokens + 1] = token
  end
  return tokens
end

-- Notes a lease as the one that was lost last.
function Former.note(lane, id, token)
  local key, tokens = Keys.job(lane, id), {}
  for _, known in ipairs(Former.of(redis.call('HGET', key, 'former'))) do
    if known ~= token then tokens[#tokens + 1] = known end
  end
  tokens[#tokens + 1] = token
  redis.call('HSET', key, 'former', table.concat(tokens, ' ', math.max(1, #tokens - Former.most + 1)))
end
