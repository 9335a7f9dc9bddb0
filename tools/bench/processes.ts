import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks of /proc in a second; Linux has had 100 on every platform for decades. */
const ticksPerSecond = 100
const bytesPerKib = 1024
/** Characters of a process's last output shown when it ends unexpectedly. */
const tailLength = 8000

/** A program that the benchmark started and will end. */
export interface Running {
  readonly pid: number
  /** Resolves with the first result of `look` on a line of its output; rejects if it ends first. */
  said<Found>(look: (line: string) => Found | undefined): Promise<Found>
  /** Ends it with SIGTERM, or the signal given, and resolves when it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** Starts a program that lives no longer than this one. */
export function startProgram(program: string, words: readonly string[]): Running {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const gone = once(child, 'exit').finally(() => process.off('exit', kill))
  gone.catch(() => undefined)
  return {
    pid: child.pid ?? 0,
    said: (look) => lookThrough(child, look),
    stop: (signal = 'SIGTERM') => endProcess(child, gone, signal),
  }
}

function lookThrough<Found>(
  child: ChildProcess,
  look: (line: string) => Found | undefined,
): Promise<Found> {
  let tail = ''
  return new Promise((resolve, reject) => {
    const onOutput = (chunk: Buffer): void => {
      tail = (tail + chunk.toString()).slice(-tailLength)
      for (const line of tail.split('\n')) {
        const found = look(line)
        if (found !== undefined) resolve(found)
      }
    }
    child.stdout?.on('data', onOutput)
    child.stderr?.on('data', onOutput)
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`${child.spawnfile} ended: ${tail}`)))
  })
}

async function endProcess(
  child: ChildProcess,
  gone: Promise<unknown>,
  signal: NodeJS.Signals,
): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal)
  await gone
}

/** Processor time of a process so far, in seconds, over all its threads. */
export function cpuSeconds(pid: number): number {
  // The name in parentheses may hold blanks; utime and stime are the 12th and 13th field after it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** The same in microseconds, by the scheduler's own count: exact enough for one request. */
export function cpuMicroseconds(pid: number): number {
  const tasks = `/proc/${pid}/task`
  const nanoseconds = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ', 1)[0]),
  )
  return nanoseconds.reduce((sum, of) => sum + of, 0) / 1_000
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * bytesPerKib
}

/** The most memory that a process ever had resident, in bytes. */
export function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * bytesPerKib
}

/** A figure over several processes. */
export function sumOver(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + of(pid), 0)
}
