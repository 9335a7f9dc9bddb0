import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'

export interface Output {
  readonly code: number | null
  readonly out: Buffer
  readonly err: string
}

/** Runs a program to its end. Without `input` its standard input is at its end from the start. */
export async function run(
  program: string,
  args: readonly string[],
  input: Buffer | string = '',
): Promise<Output> {
  const child = spawn(program, args, { stdio: 'pipe' })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [out, err, [code]] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    once(child, 'close'),
  ])
  return { code: code as number | null, out, err: err.toString() }
}

export interface RunningWorker {
  readonly child: ChildProcess
  readonly ended: Promise<void>
  /** The first that it writes to its standard output. */
  readonly wrote: Promise<Buffer>
}

/** A `gearman` worker that runs until it is stopped, or has done its count of jobs. */
export function runWorker(args: readonly string[]): RunningWorker {
  const child = spawn('gearman', ['-w', ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  return {
    child,
    ended: once(child, 'exit').then(() => undefined),
    wrote: once(child.stdout, 'data').then(([chunk]) => chunk as Buffer),
  }
}
