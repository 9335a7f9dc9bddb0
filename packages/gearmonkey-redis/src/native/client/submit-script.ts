import { createHash } from 'node:crypto'
import type { Commands, Value } from '../commands.ts'
import { runScript } from '../due-script.ts'
import { isReplyError } from '../errors.ts'
import type { Destination } from '../submission.ts'

/** The text's commands for several jobs of one function, in their order. It ends at the first that is refused. */
const submitScript = `
-- KEYS: 1 uid:{FN}, 2 the queue, 3 job:{FN}:
-- ARGV: 1 channel:{FN}, 2 {SCHEDULED} or nothing, 3 and more {INPUT}
-- Returns { 1 if the refused job got an id, error or nothing, ids in the queue ... }.
local answer, hasId = { 0, '' }, false

local function submit(input)
  local number = redis.call('INCR', KEYS[1])
  if number < 0 or number > 9007199254740991 then error('no id') end
  local id = string.format('%.0f', number)
  hasId = true
  redis.call('HMSET', KEYS[3] .. id, 'status', 'idle', 'input', input)
  redis.call('PUBLISH', ARGV[1], 'create:' .. id)
  if ARGV[2] == '' then redis.call('LPUSH', KEYS[2], id) else redis.call('ZADD', KEYS[2], ARGV[2], id) end
  answer[#answer + 1] = id
end

for at = 3, #ARGV do
  hasId = false
  local isDone, why = pcall(submit, ARGV[at])
  if not isDone then
    answer[1], answer[2] = hasId and 1 or 0, type(why) == 'table' and why.err or tostring(why)
    break
  end
end
return answer
`

const submitScriptSha1 = createHash('sha1').update(submitScript).digest('hex')

export interface Submitted {
  /** Ids of the jobs in the queue, in the order of their inputs. */
  readonly ids: readonly string[]
  /** Error of the first job that is not; empty if all are. */
  readonly refusal: string
  readonly hasRefusedId: boolean
}

/**
 * Submits several jobs by one call.
 * @returns undefined if the server refused the whole call, and did nothing
 */
export async function submitTogether(
  commands: Commands,
  fn: string,
  inputs: readonly Value[],
  destination: Destination,
): Promise<Submitted | undefined> {
  const call = (): Promise<unknown> => commands.submit(fn, submitScriptSha1, destination, inputs)
  try {
    const reply = (await runScript(commands, submitScript, call)) as unknown[]
    const [hasRefusedId, refusal, ...ids] = reply.map(String)
    return { ids, refusal: refusal ?? '', hasRefusedId: hasRefusedId === '1' }
  } catch (error) {
    if (isReplyError(error)) return undefined
    throw error
  }
}
