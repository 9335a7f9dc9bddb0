import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { Monitor } from '../../../src/conformance/monitor.ts'

/** A recording of all that a server is told. */
export interface Recording {
  /** The commands so far, as `NAME argument ...`, without what a connection says as it opens. */
  readonly commands: () => Promise<string[]>
  /** The commands since the last call. */
  readonly more: () => Promise<string[]>
  readonly stop: () => void
}

const handshake = new Set(['info', 'hello', 'client', 'select', 'auth', 'monitor', 'echo', 'quit'])

/** Records by MONITOR. What a script does is not listed: only what a client sent. */
export async function record(redis: Redis): Promise<Recording> {
  const heard: string[] = []
  const marks = new Map<string, () => void>()
  const monitor = await Monitor.open(redis, ({ source, words: [name = '', ...rest] }) => {
    if (name.toLowerCase() === 'echo') marks.get(rest[0] ?? '')?.()
    else if (source !== 'lua' && !handshake.has(name.toLowerCase())) {
      heard.push([name.toUpperCase(), ...rest].join(' '))
    }
  })
  // Commands are monitored in the order of their execution, so after the mark all is heard.
  const all = async (): Promise<string[]> => {
    const mark = randomUUID()
    const seen = new Promise<void>((resolve) => marks.set(mark, resolve))
    await redis.echo(mark)
    await seen
    return [...heard]
  }
  let read = 0
  return {
    commands: all,
    more: async () => {
      const commands = (await all()).slice(read)
      read += commands.length
      return commands
    },
    stop: () => monitor.close(),
  }
}
