-- Changes the list of nodes with waiting clients (`node,node=clients`) by some clients of a node; nil where that leaves
-- nobody.
function Waits.countWait(waiting, node, change)
  local parts, known = {}, false
  for other, clients in string.gmatch(waiting or '', '([^,=]+)=?(%d*)') do
    local left = tonumber(clients) or 1
    if other == node then
      left, known = left + change, true
    end
    if left > 0 then parts[#parts + 1] = left > 1 and other .. '=' .. left or other end
  end
  if change > 0 and not known then parts[#parts + 1] = change > 1 and node .. '=' .. change or node end
  return #parts > 0 and table.concat(parts, ',') or nil
end

function Waits.withoutNode(waiting, node) return Waits.countWait(waiting, node, -math.huge) end
