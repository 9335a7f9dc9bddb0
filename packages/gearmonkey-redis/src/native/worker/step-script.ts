import { createHash } from 'node:crypto'
import type { Commands, StepWords } from '../commands.ts'
import { runScript } from '../due-script.ts'

/** Inputs that are longer are read by themselves, bytes: a script that copies them would hold up the server. */
const longestInput = 65_536
/** Lifetime of the note of claimed jobs, for a worker whose connection broke, seconds. */
const noteSeconds = 3_600

/** The text's commands for all that a worker has gathered. A step sent again, since its answer was lost, brings the same jobs. */
const stepScript = `
-- KEYS: 1 the note of the jobs that were claimed last, 2 to 5 queue:{FN}:scheduled, :high, :normal, :low,
--   6 job:{FN}:, 7 lock:{FN}:
-- ARGV: 1 the step's number, 2 {SYSTEM_DATE}, 3 jobs wanted, 4 channel:{FN}, 5 ids that were popped before,
--   6 {ID} {STATUS} of each outcome, 7 and more {OUTPUT} of each
-- Returns { ids of outcomes that were refused, a digit for each job: 0 not begun, 1 begun, 2 begun with a long input;
--   then {ID} and input of each job }.
local jobs, locks, call = KEYS[6], KEYS[7], redis.call
local now, wanted, channel = ARGV[2], tonumber(ARGV[3]), ARGV[4]

local function finish(id, status, output)
  local job, lock = jobs .. id, locks .. id
  call('HMSET', job, 'status', status, 'output', output)
  call('EXPIRE', job, '90000')
  call('PUBLISH', channel, 'finish:' .. id)
  call('LPUSH', lock, 'OK')
  call('EXPIRE', lock, '10')
end

local function take(ids)
  local due = call('ZRANGEBYSCORE', KEYS[2], 0, now, 'LIMIT', 0, wanted)
  for _, id in ipairs(due) do
    call('ZREM', KEYS[2], id)
    ids[#ids + 1] = id
  end
  for at = 3, 5 do
    if #ids == wanted then return end
    local last = call('LRANGE', KEYS[at], #ids - wanted, -1)
    if #last > 0 then call('LTRIM', KEYS[at], 0, -1 - #last) end
    for i = #last, 1, -1 do ids[#ids + 1] = last[i] end
  end
end

local function begin(id)
  local job = jobs .. id
  local isLong = call('HSTRLEN', job, 'input') > ${longestInput}
  local input = not isLong and call('HGET', job, 'input')
  call('PUBLISH', channel, 'start:' .. id)
  call('HMSET', job, 'status', 'busy')
  return input, isLong
end

local refused, ids = {}, {}
local note = wanted > 0 and call('GET', KEYS[1])
if note and string.match(note, '^%d+') == ARGV[1] then
  for id in string.gmatch(note, ' (%d+)') do ids[#ids + 1] = id end
else
  local at = 6
  for id, status in string.gmatch(ARGV[6], '(%d+) (%a+)') do
    at = at + 1
    if not pcall(finish, id, status, ARGV[at]) then refused[#refused + 1] = id end
  end
  if wanted > 0 and #refused == 0 then
    pcall(take, ids)
    local handedOut = { ARGV[1] }
    for _, id in ipairs(ids) do
      if string.match(id, '^%d+$') then handedOut[#handedOut + 1] = id end
    end
    if #handedOut > 1 then redis.pcall('SET', KEYS[1], table.concat(handedOut, ' '), 'EX', '${noteSeconds}') end
  end
end
local at = 0
for id in string.gmatch(ARGV[5], '%d+') do
  at = at + 1
  table.insert(ids, at, id)
end
local states, answer = {}, { table.concat(refused, ' '), '' }
for i, id in ipairs(ids) do
  local isBegun, input, isLong = false, false, false
  if #id < 16 and string.match(id, '^[1-9]%d*$') then isBegun, input, isLong = pcall(begin, id) end
  states[i] = isBegun and (isLong and '2' or '1') or '0'
  answer[#answer + 1] = id
  answer[#answer + 1] = isBegun and input
end
answer[2] = table.concat(states)
return answer
`

const stepScriptSha1 = createHash('sha1').update(stepScript).digest('hex')

/** A job as a step hands it out. */
export interface StepJob {
  /** The id as it stood in its queue. */
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
  const call = (): Promise<unknown> => commands.step(fn, stepScriptSha1, words)
  const reply = await runScript(commands, stepScript, call)
  const [refused, digits, ...items] = reply as [Buffer, Buffer, ...(Buffer | null)[]]
  const jobs = Array.from(digits.toString('latin1'), (digit, at): StepJob => ({
    id: items[2 * at]?.toString('latin1') ?? '',
    state: states[Number(digit)] ?? 'not begun',
    input: items[2 * at + 1] ?? undefined,
  }))
  return { refused: idsOf(refused), jobs }
}

function idsOf(list: Buffer): ReadonlySet<number> {
  return new Set(list.length === 0 ? [] : list.toString('latin1').split(' ').map(Number))
}
