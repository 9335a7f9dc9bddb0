-- Long lists as one MessagePack string, the twin of packed.ts. Long values stand outside it, false in their place: they
-- are copied less often, and keeping one does not keep the whole list.
local outOfLineFrom = 1024

-- The list in ARGV[at]; the place and value of each long one follow.
local function unpackedArguments(at)
  local list = cmsgpack.unpack(ARGV[at])
  for outOfLine = at + 1, #ARGV, 2 do
    list[tonumber(ARGV[outOfLine])] = ARGV[outOfLine + 1]
  end
  return list
end

-- Moves long strings from a list to the end of a reply.
local function setAside(list, reply)
  for at = 1, #list do
    if #list[at] >= outOfLineFrom then
      reply[#reply + 1] = list[at]
      list[at] = false
    end
  end
end
