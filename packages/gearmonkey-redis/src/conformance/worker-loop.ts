import { createHash } from 'node:crypto'
import { dueScript, dueScriptSha1 } from '../native/due-script.ts'
import type { Report } from './report.ts'
import { withPlaceholders, words, type Seen, type Step } from './trace.ts'

/** Allowed difference between a worker's clock and the server's, seconds. */
const clockSlackSeconds = 5

export interface Counted {
  readonly fn: string
  /** `count:{FN}` before the worker came. */
  readonly before: number
  /** `count:{FN}` now. */
  readonly count: number
}

/** Judges what a worker does before its loop. */
export function judgeStart(
  report: Report,
  trace: readonly Seen[],
  { fn, before, count, isOurs }: Counted & { readonly isOurs: boolean },
): void {
  const scene = 'worker, start'
  if (!isOurs) {
    const detail = count >= 1 ? undefined : `it is ${count}`
    report.judge(scene, 'count:{FN} is at least 1 while a worker runs', detail)
    report.leaveOut(scene, 'SCRIPT LOAD and INCR count:{FN}', 'no --worker-command')
    return
  }
  const load: Step = { must: 'SCRIPT LOAD of the script with that SHA-1', is: loadsScript }
  const incr = words('INCR', `count:${fn}`)
  report.judgeSteps(scene, trace, [load, incr], { fn })
  const first = trace.find((command) => incr.is(command) || asksForDue(command, fn))
  const early = first && !incr.is(first) ? 'it polled first' : undefined
  report.judge(scene, 'the worker is counted before it polls', early)
  const raised = count === before + 1 ? undefined : `from ${before} to ${count}`
  report.judge(scene, 'count:{FN} goes up by one', raised)
}

function loadsAnyScript({ name, args }: Seen): boolean {
  return name === 'SCRIPT' && args[0]?.toUpperCase() === 'LOAD'
}

/** Copies of the protocol's text have often lost one of the two spaces, and with it the SHA-1. */
export function judgeSpaces(report: Report, trace: readonly Seen[]): void {
  const plain = (text: string): string => text.replaceAll(/\s+/g, ' ')
  const copies = trace.filter(loadsAnyScript).map(({ args }) => args[1] ?? '')
  const isSpoilt = copies.some((text) => text !== dueScript && plain(text) === plain(dueScript))
  const detail = isSpoilt ? `without them its SHA-1 is not ${dueScriptSha1}` : undefined
  report.judge('worker, start', 'the script has two spaces in { KEYS[1],  item[1] }', detail)
}

/** Judges how a worker asks for jobs. */
export function judgeLoop(report: Report, trace: readonly Seen[], fn: string): void {
  const scene = 'worker, loop'
  const keys = ['high', 'normal', 'low'].map((queue) => `queue:${fn}:${queue}`)
  const pop = words('BRPOP', ...keys, '1')
  const touching = trace.filter(
    ({ name, args }) =>
      /^(BRPOP|BLPOP|RPOP|LPOP|BLMOVE|LMOVE|LMPOP|BLMPOP)$/.test(name) &&
      args.some((arg) => arg.startsWith(`queue:${fn}:`)),
  )
  const other = touching.find((command) => !pop.is(command))
  const seenOther = other && `${other.name} ${other.args.join(' ')}`
  report.judge(
    scene,
    withPlaceholders(pop.must, { fn }),
    seenOther && withPlaceholders(seenOther, { fn }),
  )

  const takes = trace.filter((command) => asksForDue(command, fn))
  report.judge(
    scene,
    `EVALSHA ${dueScriptSha1} 1 queue:{FN}:scheduled {SYSTEM_DATE}`,
    takes.length === 0 ? 'not seen' : wrongTake(takes),
  )
  const alone = popsWithoutTake(trace, pop, fn)
  const detail = alone === 0 ? undefined : `${alone} BRPOP without one`
  report.judge(scene, 'each BRPOP comes after an EVALSHA that found nothing', detail)
}

/** Judges what a worker does as it leaves. */
export function judgeExit(report: Report, trace: readonly Seen[], counted: Counted): void {
  const { fn, before, count } = counted
  const scene = 'worker, exit'
  report.judgeSteps(scene, trace, [words('DECR', `count:${fn}`)], { fn })
  const detail = count === before ? undefined : `it is ${count}, and was ${before}`
  report.judge(scene, 'count:{FN} is what it was before the worker came', detail)
}

const due = (fn: string): string => `queue:${fn}:scheduled`

/** True for the script that takes a due job, whatever its SHA-1. */
export function asksForDue({ name, args }: Seen, fn: string): boolean {
  return name === 'EVALSHA' && args[2] === due(fn)
}

function loadsScript({ name, args }: Seen): boolean {
  if (name !== 'SCRIPT' || args[0]?.toUpperCase() !== 'LOAD') return false
  return (
    createHash('sha1')
      .update(args[1] ?? '')
      .digest('hex') === dueScriptSha1
  )
}

function wrongTake(takes: readonly Seen[]): string | undefined {
  for (const { time, args } of takes) {
    const [sha1, keys, , date = ''] = args
    if (sha1 !== dueScriptSha1 || keys !== '1' || args.length !== 4) return args.join(' ')
    if (!/^\d+$/.test(date)) return `the date is ${date}, no whole number of seconds`
    const off = Math.round(Number(date) - time)
    if (Math.abs(off) > clockSlackSeconds) return `the date is ${off} s off`
  }
  return undefined
}

/** Pops of one connection without a look for scheduled jobs in between. */
function popsWithoutTake(trace: readonly Seen[], pop: Step, fn: string): number {
  const asked = new Map<string, number>()
  let takes = 0
  let alone = 0
  for (const command of trace) {
    if (asksForDue(command, fn)) takes += 1
    if (!pop.is(command)) continue
    if (takes === (asked.get(command.source) ?? 0)) alone += 1
    asked.set(command.source, takes)
  }
  return alone
}
