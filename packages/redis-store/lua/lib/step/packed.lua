-- Long lists as one MessagePack string, the twin of packed.ts. What is long itself stands beside it, false in its
-- place: it is copied less, and who keeps it does not keep everything.
local besideFrom = 1024

-- The list in ARGV[at]. Place and value of each that stands beside it follow.
local function unpackedArguments(at)
  local list = cmsgpack.unpack(ARGV[at])
  for beside = at + 1, #ARGV, 2 do list[tonumber(ARGV[beside])] = ARGV[beside + 1] end
  return list
end

-- Moves long strings from a list to the end of a reply.
local function setAside(list, reply)
  for at = 1, #list do
    if #list[at] >= besideFrom then
      reply[#reply + 1] = list[at]
      list[at] = false
    end
  end
end
