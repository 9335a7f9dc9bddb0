import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { connect as connectTls } from 'node:tls'
import type { Redis } from 'ioredis'

export interface MonitoredCommand {
  /** Unix time in seconds. */
  readonly time: number
  /** `host:port`, `unix:path`, or `lua` for a script's commands. */
  readonly source: string
  /** Name and arguments; bytes that are not printable ASCII as Latin-1. */
  readonly words: readonly string[]
}

/**
 * Redis's MONITOR on a socket of its own. ioredis's gets out of step when a busy server's first
 * lines share a packet with the OK.
 */
export class Monitor {
  readonly #socket: Socket

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Monitors the server of a connection. @returns when the server has begun to report */
  static async open(of: Redis, onCommand: (command: MonitoredCommand) => void): Promise<Monitor> {
    const { username, password } = of.options
    const socket = await connectedSocket(of)
    const begun = new Promise<void>((resolve, reject) => {
      const awaited = password ? ['+OK', '+OK'] : ['+OK']
      const lines = createInterface({ input: socket, crlfDelay: Infinity })
      lines.on('line', (line) => {
        if (awaited.length === 0) {
          const command = parseLine(line)
          if (command) onCommand(command)
        } else if (line === awaited.shift()) {
          if (awaited.length === 0) resolve()
        } else reject(new Error(line))
      })
      socket.once('close', () => reject(new Error('the server ended the connection')))
    })
    if (password) socket.write(command('AUTH', ...(username ? [username] : []), password))
    socket.write(command('MONITOR'))
    await begun
    return new Monitor(socket)
  }

  close(): void {
    this.#socket.destroy()
  }
}

async function connectedSocket({ options }: Redis): Promise<Socket> {
  const { host = '127.0.0.1', port = 6379, path, tls } = options
  const socket = tls
    ? connectTls({ ...tls, host, port })
    : createConnection(path === undefined ? { host, port } : { path })
  await once(socket, tls ? 'secureConnect' : 'connect')
  socket.on('error', () => undefined) // its end is heard as a close
  socket.setEncoding('latin1')
  return socket
}

function command(...words: readonly string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return `*${words.length}\r\n${parts.join('')}`
}

/** `+1700000000.123456 [0 127.0.0.1:5000] "NAME" "argument"`; undefined for anything else. */
export function parseLine(line: string): MonitoredCommand | undefined {
  const [, time, source, rest] = /^\+([\d.]+) \[\d+ (.*?)\] (".*)$/.exec(line) ?? []
  if (time === undefined || source === undefined || rest === undefined) return undefined
  const quoted = rest.match(/"(?:[^"\\]|\\.)*"/g) ?? []
  return { time: Number(time), source, words: quoted.map((word) => unescaped(word.slice(1, -1))) }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' }

function unescaped(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_all, hex?: string, one = '') =>
    hex === undefined
      ? (escapes[one as string] ?? String(one))
      : String.fromCharCode(parseInt(hex, 16)),
  )
}
