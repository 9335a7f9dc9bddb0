-- Long lists as one MessagePack string, the twin of packed.ts. Long values stand outside it, false in their place: they
-- are copied less often, and keeping one does not keep the whole list.
local outOfLineFrom = 1024

-- The list in arguments[at]; the place and value of each long one follow.
function Packed.unpackedArguments(arguments, at)
  local list = cmsgpack.unpack(arguments[at])
  for outOfLine = at + 1, #arguments, 2 do
    list[tonumber(arguments[outOfLine])] = arguments[outOfLine + 1]
  end
  return list
end

-- Moves long strings from a list to the end of a reply.
function Packed.setAside(list, reply)
  for at = 1, #list do
    if #list[at] >= outOfLineFrom then
      reply[#reply + 1] = list[at]
      list[at] = false
    end
  end
end
