import { encode, encodeRequest, type PacketName } from '@crossgear/gearman-codec'
import type { Bytes, Case, Request, Step } from '../script.ts'
import { Connection } from './connection.ts'
import { Controls, isControl } from './controls.ts'
import { Names } from './names.ts'
import type { Server } from './server.ts'

/** Messages at each connection and step, such as `3 worker NOOP`. */
export type Transcript = readonly string[]

/** How long what is expected may take to come, milliseconds. */
const patienceMs = 60_000
const clockMs = 60_000
const readsOnly = /^(status|prioritystatus|show|workers)\b/i
const toNodeOne = /^(client|other)/

/** Plays one case against one server. */
export async function play(
  { steps, normalise }: Case,
  server: Server,
  oracle?: Transcript,
): Promise<Transcript> {
  const stage = await Stage.open(server, oracle)
  try {
    const transcript: string[] = []
    for (const [at, step] of steps.entries()) transcript.push(...(await stage.play(at + 1, step)))
    return normalise ? transcript.map(normalise) : transcript
  } finally {
    stage.close()
  }
}

class Stage {
  readonly #server: Server
  readonly #oracle: Transcript | undefined
  readonly #controls: Controls
  readonly #names = new Names()
  readonly #cast = new Map<string, Connection>()
  readonly #ended = new Set<string>()
  #gone = 0

  private constructor(server: Server, controls: Controls, oracle: Transcript | undefined) {
    this.#server = server
    this.#controls = controls
    this.#oracle = oracle
  }

  static async open(server: Server, oracle: Transcript | undefined): Promise<Stage> {
    return new Stage(server, await Controls.open(server.ports), oracle)
  }

  async play(number: number, step: Step): Promise<string[]> {
    const [name] = step
    const actor = await this.#actor(name)
    await this.#act(actor, step)
    await this.#settle(actor)
    let lines = await this.#hear(number)
    if (step[1] === 'text' && readsOnly.test(step[2]) && !this.#server.isPrompt) {
      const endMs = performance.now() + patienceMs
      while (!this.#agrees(number, lines) && performance.now() < endMs) {
        await this.#act(actor, step)
        await this.#settle(actor)
        lines = await this.#hear(number)
      }
    }
    return lines
  }

  close(): void {
    this.#controls.close()
    for (const connection of this.#cast.values()) connection.close()
  }

  async #actor(name: string): Promise<Connection> {
    const known = this.#cast.get(name)
    if (known) return known
    const { ports } = this.#server
    const port = (toNodeOne.test(name) ? ports[0] : ports.at(-1)) ?? 0
    const connection = await Connection.open(port)
    this.#cast.set(name, connection)
    return connection
  }

  async #act(actor: Connection, step: Step): Promise<void> {
    const [, how] = step
    actor.isMidway = how === 'part'
    if (how === 'close') actor.close()
    else if (how === 'byte by byte') await actor.sendByteByByte(this.#bytesOf(step))
    else if (how === 'hears something') {
      this.#server.letTimePass()
      await actor.waitFor(() => actor.count > 0, clockMs)
    } else if (how !== 'open') actor.send(this.#bytesOf(step))
  }

  #bytesOf([, how, ...rest]: Step): Buffer {
    switch (how) {
      case 'text':
        return this.#names.fill(`${rest[0] as string}\n`)
      case 'raw':
      case 'part':
        return this.#names.fill(rest[0] as Bytes)
      case 'at once': {
        const requests = rest as unknown as readonly Request[]
        return Buffer.concat(requests.map((request) => this.#encode(request)))
      }
      case 'byte by byte':
        return this.#encode(rest as unknown as Request)
      case 'as server': {
        const [name, ...args] = rest as unknown as Request
        return encode('RES', name, this.#filled(args))
      }
      default:
        return this.#encode([how as PacketName, ...(rest as readonly Bytes[])])
    }
  }

  #encode([name, ...args]: readonly [PacketName, ...(readonly Bytes[])]): Buffer {
    return encodeRequest(name as 'ECHO_REQ', ...(this.#filled(args) as [Buffer]))
  }

  #filled(args: readonly Bytes[]): Buffer[] {
    return args.map((arg) => this.#names.fill(arg))
  }

  /** An echo to the one that spoke, then one to each of the others: what came of it is there. */
  async #settle(actor: Connection): Promise<void> {
    await actor.barrier()
    const gone = [...this.#cast.values()].filter((connection) => !connection.isOpen).length
    if (gone > this.#gone) await this.#controls.connections(this.#cast.size - gone)
    this.#gone = gone
    if (!this.#server.isPrompt) await this.#controls.agree()
    await this.#server.rest()
    await Promise.all(Array.from(this.#cast.values(), (connection) => connection.barrier()))
  }

  async #hear(number: number): Promise<string[]> {
    await this.#awaitExpected(number)
    const lines: string[] = []
    for (const [name, connection] of this.#cast) {
      const heard = connection
        .take()
        .map((message) => this.#names.lineOf(message))
        .filter((line) => !isControl(line))
      if (connection.wasEnded && !this.#ended.has(name)) {
        this.#ended.add(name)
        heard.push('CLOSED')
      }
      lines.push(...inOrder(heard).map((line) => `${number} ${name} ${line}`))
    }
    return lines
  }

  /** Other nodes hear of a change a moment after the one that made it. */
  async #awaitExpected(number: number): Promise<void> {
    if (!this.#oracle || this.#server.isPrompt) return
    for (const [name, connection] of this.#cast) {
      if (this.#ended.has(name)) continue
      const prefix = `${number} ${name} `
      const max = this.#oracle.filter((line) => line.startsWith(prefix)).length
      await connection.waitFor(() => connection.count >= max, patienceMs)
    }
  }

  #agrees(number: number, lines: readonly string[]): boolean {
    const expected = this.#oracle?.filter((line) => line.startsWith(`${number} `)) ?? []
    return expected.join('\n') === lines.join('\n')
  }
}

/** Servers list in the order of their tables: lists are compared in the order of the alphabet. */
function inOrder(lines: string[]): string[] {
  const dot = lines.indexOf('".\\n"')
  if (dot < 0) return lines
  return [...lines.slice(0, dot).sort(), ...lines.slice(dot)]
}
