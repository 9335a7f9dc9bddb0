import { createHash } from 'node:crypto'
import type { Commands, StepWords } from './commands.ts'
import { runScript } from './due-script.ts'

/** Inputs that are longer are read by themselves, bytes: a script that copies them would hold up the server. */
const longestInput = 65_536
/** Lifetime of the note of claimed jobs, for a worker whose connection broke, seconds. */
const noteSeconds = 3_600

/** The text's commands for all that a worker has gathered. A step sent again, since its answer was lost, brings the same jobs. */
const stepScript = `
-- KEYS: 1 the note of the jobs that were claimed last, 2 to 5 queue:{FN}:scheduled, :high, :normal, :low,
--   6 job:{FN}:, 7 lock:{FN}:
-- ARGV: 1 the step's number, 2 {SYSTEM_DATE}, 3 jobs wanted, 4 channel:{FN},
--   5 number of ids that were popped before, those ids; then {ID} {STATUS} {OUTPUT} of each outcome
-- Returns { ids of outcomes that were refused, jobs as { id, 0 not begun | 1 begun | 2 begun with a long input, input } }.
local jobs, locks = KEYS[6], KEYS[7]
local now, wanted, channel, popped = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

local function finish(id, status, output)
  redis.call('HMSET', jobs .. id, 'status', status, 'output', output)
  redis.call('EXPIRE', jobs .. id, 90000)
  redis.call('PUBLISH', channel, 'finish:' .. id)
  redis.call('LPUSH', locks .. id, 'OK')
  redis.call('EXPIRE', locks .. id, 10)
end

local function take(ids)
  local due = redis.call('ZRANGEBYSCORE', KEYS[2], 0, now, 'LIMIT', 0, wanted)
  for _, id in ipairs(due) do
    redis.call('ZREM', KEYS[2], id)
    ids[#ids + 1] = id
  end
  for at = 3, 5 do
    if #ids == wanted then return end
    local last = redis.call('LRANGE', KEYS[at], #ids - wanted, -1)
    if #last > 0 then redis.call('LTRIM', KEYS[at], 0, -1 - #last) end
    for i = #last, 1, -1 do ids[#ids + 1] = last[i] end
  end
end

local function begin(id)
  local isLong = redis.call('HSTRLEN', jobs .. id, 'input') > ${longestInput}
  local input = not isLong and redis.call('HGET', jobs .. id, 'input')
  redis.call('PUBLISH', channel, 'start:' .. id)
  redis.call('HMSET', jobs .. id, 'status', 'busy')
  return { id, isLong and 2 or 1, input }
end

local refused, ids, answer = {}, {}, {}
local note = wanted > 0 and redis.call('GET', KEYS[1])
if note and string.match(note, '^%d+') == ARGV[1] then
  for id in string.gmatch(note, ' (%d+)') do ids[#ids + 1] = id end
else
  for at = 6 + popped, #ARGV, 3 do
    if not pcall(finish, ARGV[at], ARGV[at + 1], ARGV[at + 2]) then refused[#refused + 1] = ARGV[at] end
  end
  if wanted > 0 and #refused == 0 then
    pcall(take, ids)
    local handedOut = { ARGV[1] }
    for _, id in ipairs(ids) do
      if string.match(id, '^%d+$') then handedOut[#handedOut + 1] = id end
    end
    if #handedOut > 1 then redis.pcall('SET', KEYS[1], table.concat(handedOut, ' '), 'EX', ${noteSeconds}) end
  end
end
for at = 6, 5 + popped do table.insert(ids, at - 5, ARGV[at]) end
for _, id in ipairs(ids) do
  local isBegun, job = false, nil
  if #id < 16 and string.match(id, '^[1-9]%d*$') then isBegun, job = pcall(begin, id) end
  answer[#answer + 1] = isBegun and job or { id, 0 }
end
return { refused, answer }
`

const stepScriptSha1 = createHash('sha1').update(stepScript).digest('hex')

/** A job as a step hands it out. */
export interface StepJob {
  /** As it stood in its queue. */
  readonly id: string
  readonly state: 'not begun' | 'begun' | 'begun, input not read'
  readonly input: Buffer | undefined
}

export interface StepAnswer {
  /** Ids of outcomes that were not stored, or not announced. */
  readonly refused: ReadonlySet<number> | 'all'
  /** In the order of their start: popped ones, then claimed ones. */
  readonly jobs: readonly StepJob[]
}

const states = ['not begun', 'begun', 'begun, input not read'] as const

/** Takes a step. Loads the script if the server does not have it. */
export async function takeStep(
  commands: Commands,
  fn: string,
  words: StepWords,
): Promise<StepAnswer> {
  const reply = await runScript(commands, stepScript, () =>
    commands.step(fn, stepScriptSha1, words),
  )
  const [refused, jobs] = reply as [Buffer[], [Buffer, number | Buffer, (Buffer | null)?][]]
  return {
    refused: new Set(refused.map(Number)),
    jobs: jobs.map(([id, state, input]) => ({
      id: id.toString('latin1'),
      state: states[Number(state)] ?? 'not begun',
      input: input ?? undefined,
    })),
  }
}
