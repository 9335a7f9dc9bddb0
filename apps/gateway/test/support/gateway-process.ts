import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { bundleWords } from '@crossgear/tools/gateway-program'

export interface ReadyLine {
  readonly store: { readonly kind: string; readonly nativeUrl: string }
  readonly doors: readonly { readonly name: string; readonly host: string; readonly port: number }[]
}

/** A gateway that is ready. */
export interface ReadyGateway extends ReadyLine {
  /** The port of a door; 0 where it is closed. */
  readonly port: (door: string) => number
}

/** Words for a gateway on this Redis: these doors are open at free ports, and the others shut. */
export function wordsOn(redis: { readonly path: string }, ...open: readonly string[]): string[] {
  const ports = ['gearman', 'faktory', 'http', 'web'].flatMap((door) => [
    `--${door}-port`,
    open.includes(door) ? '0' : 'off',
  ])
  return ['serve', ...ports, '--redis-url', `unix://${redis.path}`]
}

/** A gateway in a process of its own, or a `program` of a test's: words for Node. */
export function startGateway(
  words: readonly string[],
  env: Record<string, string> = {},
  program = bundleWords(),
) {
  const child = spawn(process.execPath, [...program, ...words], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const exited = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
  const waits = new Set<() => void>()
  /** Waits for a line of the log, and so many of its kind. */
  const said = (pattern: RegExp, count = 1): Promise<readonly string[]> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = stdout.split('\n').filter((line) => pattern.test(line))
        if (found.length < count) return
        waits.delete(look)
        resolve(found)
      }
      waits.add(look)
      look()
    })
  const ready = new Promise<ReadyGateway>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      stdout += `${line}\n`
      for (const look of waits) look()
      if (!line.includes('"msg":"Ready."')) return
      const ready = JSON.parse(line) as ReadyLine
      const port = (door: string) => ready.doors.find(({ name }) => name === door)?.port ?? 0
      resolve({ ...ready, port })
    })
    void exited.then(() => reject(new Error(`the gateway ended: ${stderr}`)))
  })
  ready.catch(() => undefined)
  const end = (signal: NodeJS.Signals = 'SIGTERM'): typeof exited => {
    child.kill(signal)
    return exited
  }
  return { child, ready, exited, said, end }
}

/** The same, which ends with the test. */
export function gatewayOfTest(
  ...how: Parameters<typeof startGateway>
): ReturnType<typeof startGateway> {
  const gateway = startGateway(...how)
  onTestFinished(async () => void (await gateway.end()))
  return gateway
}
