import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bundleWords } from '@crossgear/tools/gateway-program'
import { RedisServer } from '@crossgear/tools/redis-server'
import { env, startDoor } from './gateway.ts'
import { lineOf, type ProofJob } from './jobs.ts'

/** A source with jobs in it. */
export interface FilledSource {
  /** For `--from`. */
  readonly address: string
  /** Further words of the command. */
  readonly words?: readonly string[]
  /** The jobs that are in it, as workers must get them. */
  readonly jobOf: (at: number) => ProofJob
  /** True where it can only be moved from. */
  readonly isLive?: boolean
  /** True where nothing can be removed: the run that is killed is a copy as well. */
  readonly isCopyOnly?: boolean
  /** Brings back what a killed run had taken and its server still keeps for it. */
  readonly afterKill?: () => Promise<void>
  stop(): Promise<void>
}

export interface ProofOptions {
  readonly jobs: number
  readonly kills: number
}

/** Findings of a proof. */
export interface Proof {
  readonly jobs: number
  /** Of the copy in one go; absent for a live source. */
  readonly seconds?: number
  readonly peakMb?: number
  readonly kills: number
  readonly drained: number
  readonly scheduled: number
  /** Faults; empty where all is well. */
  readonly faults: readonly string[]
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly seconds: number
  readonly peakMb: number
}

const lookEveryMs = 50
const usualSeconds = 3
const firstKillMs = 300

/**
 * Copies all of a source and verifies it; then moves it into an empty store, killed at random moments and run again, verifies
 * that, and drains the store by stock workers.
 */
export async function prove(source: FilledSource, options: ProofOptions): Promise<Proof> {
  const target = await RedisServer.start()
  const faults: string[] = []
  try {
    const sides = ['--from', source.address, '--to', target.url, ...(source.words ?? [])]
    const copied = source.isLive ? undefined : await command('run', sides)
    if (copied) {
      if (copied.code !== 0) faults.push(`the copy ends with ${copied.code}: ${last(copied.out)}`)
      await verified(['verify', ...sides], 'the copy', faults)
      const again = await command('run', sides)
      if (!/ read: 0 stored/.test(again.out)) faults.push(`a second copy: ${last(again.out)}`)
      await target.ask('FLUSHALL')
    }
    const seconds = copied?.seconds ?? usualSeconds
    const killed = source.isCopyOnly ? sides : [...sides, '--move']
    const kills = await runWithKills(source, killed, seconds, options, faults)
    await verified(['verify', ...killed], 'the move', faults)
    const drained = await drain(target, source, options.jobs)
    const { missing, odd, scheduled } = compared(drained, source, options.jobs)
    const functions = functionsOf(source, options.jobs)
    if (missing.length > 0) {
      const waiting = await countIn(target, functions, waitingKeys)
      const first = `the first: ${missing[0]}; ${waiting} wait in the store`
      faults.push(`${missing.length} jobs were not done, ${first}`)
    }
    if (odd > 0) faults.push(`${odd} jobs were done that should not have been, or twice`)
    const standing = await countIn(target, functions, scheduledKeys)
    if (standing !== scheduled) faults.push(`${standing} of ${scheduled} are scheduled`)
    return {
      jobs: options.jobs,
      kills,
      drained: drained.length,
      scheduled: standing,
      faults,
      ...(copied && { seconds: copied.seconds, peakMb: copied.peakMb }),
    }
  } finally {
    await target.stop()
  }
}

/** Moves all of it, killed so many times: how often it was killed before its end. */
async function runWithKills(
  { afterKill }: FilledSource,
  sides: readonly string[],
  seconds: number,
  { kills }: ProofOptions,
  faults: string[],
): Promise<number> {
  const eachMs = (seconds * 1_000) / Math.max(1, kills)
  let killed = 0
  for (let time = 0; time < kills; time += 1) {
    const afterMs = firstKillMs + randomInt(Math.ceil(2 * eachMs))
    const { code } = await command('run', sides, afterMs)
    if (code === null) killed += 1
    await afterKill?.()
  }
  const rest = await command('run', sides)
  if (rest.code !== 0) faults.push(`the move ends with ${rest.code}: ${last(rest.out)}`)
  if (!/ 0 rejected/.test(rest.out)) faults.push(`the last run: ${last(rest.out)}`)
  return killed
}

async function verified(words: readonly string[], what: string, faults: string[]): Promise<void> {
  const { code, out } = await command(words[0] ?? '', words.slice(1))
  if (code !== 0) faults.push(`verify of ${what} ends with ${code}: ${last(out)}`)
}

/** Runs `crossgear migrate`; it is killed after so many milliseconds. */
async function command(
  act: string,
  words: readonly string[],
  killAfterMs?: number,
): Promise<Ended> {
  const startedMs = Date.now()
  const all = [...bundleWords(), 'migrate', act, ...words]
  const child = spawn(process.execPath, all, { env })
  let out = ''
  let peakKb = 0
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0))
    } catch {
      clearInterval(look) // it has ended
    }
  }, lookEveryMs)
  const exited = once(child, 'exit') as Promise<[number | null]>
  if (killAfterMs !== undefined) {
    const timer = new AbortController()
    await Promise.race([delay(killAfterMs, undefined, timer).catch(() => undefined), exited])
    timer.abort()
    child.kill('SIGKILL')
  }
  const [code] = await exited
  clearInterval(look)
  const seconds = (Date.now() - startedMs) / 1_000
  return { code, out, seconds, peakMb: Math.round(peakKb / 1_024) }
}

/** Lets stock workers do all that is due; what they wrote down. */
async function drain(
  target: RedisServer,
  source: FilledSource,
  jobs: number,
): Promise<readonly string[]> {
  const { port, stop } = await startDoor('gearman', target.url)
  try {
    const script = fileURLToPath(new URL('worker.php', import.meta.url))
    const names = [...functionsOf(source, jobs)].join()
    const outputs = await Promise.all(
      [1, 2].map(async () => {
        const worker = spawn('php', [script, String(port), names], {
          stdio: ['ignore', 'pipe', 'ignore'],
        })
        let out = ''
        worker.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
        await once(worker, 'close')
        return out
      }),
    )
    return outputs
      .join('')
      .split('\n')
      .filter((line) => line !== '')
  } finally {
    await stop()
  }
}

/** Compares what workers did with what was in the source. */
function compared(drained: readonly string[], { jobOf }: FilledSource, jobs: number) {
  const expected = new Map<string, number>()
  let scheduled = 0
  for (let at = 0; at < jobs; at += 1) {
    const job = jobOf(at)
    if (job.dueSeconds !== undefined) scheduled += 1
    else expected.set(lineOf(job), (expected.get(lineOf(job)) ?? 0) + 1)
  }
  let odd = 0
  for (const line of drained) {
    const left = expected.get(line) ?? 0
    if (left === 0) odd += 1
    else expected.set(line, left - 1)
  }
  const missing = [...expected].flatMap(([line, left]) => Array.from({ length: left }, () => line))
  return { missing, odd, scheduled }
}

function functionsOf({ jobOf }: FilledSource, jobs: number): ReadonlySet<string> {
  return new Set(Array.from({ length: Math.min(jobs, 100) }, (_none, at) => jobOf(at).fn))
}

/** Keys of a lane, each with the command that counts what is in it. */
type CountedKeys = (lane: string) => readonly (readonly [command: string, key: string])[]

const scheduledKeys: CountedKeys = (lane) => [['ZCARD', `queue:${lane}:scheduled`]]
const waitingKeys: CountedKeys = (lane) => [
  ...['high', 'normal', 'low'].map((band) => ['LLEN', `queue:${lane}:${band}`] as const),
  ['ZCARD', `xg:busy:${lane}`],
]

async function countIn(
  target: RedisServer,
  functions: ReadonlySet<string>,
  keysOf: CountedKeys,
): Promise<number> {
  let sum = 0
  const lanes = (await target.ask('HKEYS', 'xg:lanes')).split(',')
  for (const lane of lanes) {
    if (!functions.has(lane.split('@')[0] ?? '')) continue
    for (const [command, key] of keysOf(lane)) sum += Number(await target.ask(command, key))
  }
  return sum
}

function last(out: string): string {
  return out.trim().split('\n').at(-1) ?? ''
}
