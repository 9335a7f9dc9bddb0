import { once } from 'node:events'
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'

/**
 * Calls back with each command that a server runs, and its source: `lua` for those of scripts. Returns a function that
 * ends it. ioredis's own monitor gets out of step where a busy server's first lines come with the OK.
 */
export async function monitored(
  path: string,
  onCommand: (source: string, words: string[]) => void,
): Promise<() => void> {
  const socket = createConnection(path)
  await once(socket, 'connect')
  const begun = new Promise<void>((resolve) => {
    createInterface({ input: socket }).on('line', (line) => {
      if (line === '+OK') resolve()
      const [, source, rest] = /^\+[\d.]+ \[\d+ (.*?)\] (".*)$/.exec(line) ?? []
      const words = rest?.match(/"(?:[^"\\]|\\.)*"/g) ?? []
      if (source !== undefined)
        onCommand(
          source,
          words.map((word) => word.slice(1, -1)),
        )
    })
  })
  socket.write('MONITOR\r\n')
  await begun
  return () => socket.destroy()
}
