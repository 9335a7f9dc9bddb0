import { readdirSync, readFileSync } from 'node:fs'
import { OwnProcess } from '../testing/own-process.ts'

/** Clock ticks of /proc in a second; Linux has had 100 on every platform for decades. */
const ticksPerSecond = 100
const bytesPerKib = 1024

/** A program whose output is read until it is ready. */
export function startProgram(program: string, words: readonly string[]): OwnProcess {
  return new OwnProcess(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Processor time of a process so far, in seconds, over all its threads. */
export function cpuSeconds(pid: number): number {
  // The name in parentheses may hold blanks; utime and stime are the 12th and 13th field after it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Processor time in microseconds, by the scheduler's own count: exact enough for one request. */
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
