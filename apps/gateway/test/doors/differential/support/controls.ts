import { encodeRequest } from '@crossgear/gearman-codec'
import { Connection } from './connection.ts'

const id = '~control'

/** A connection of the suite's own to each node, to ask how far it is. No case sees them. */
export class Controls {
  readonly #connections: readonly Connection[]

  private constructor(connections: readonly Connection[]) {
    this.#connections = connections
  }

  static async open(ports: readonly number[]): Promise<Controls> {
    const connections = await Promise.all(ports.map((port) => Connection.open(port)))
    for (const connection of connections) connection.send(encodeRequest('SET_CLIENT_ID', id))
    await Promise.all(connections.map((connection) => connection.barrier()))
    return new Controls(connections)
  }

  /** Resolves when the nodes know of no more connections than these. */
  async connections(count: number): Promise<void> {
    for (;;) {
      const lists = await Promise.all(this.#connections.map((each) => each.list('workers')))
      const lines = lists.flat().filter((line) => !isControl(line) && line !== '.\n')
      if (lines.length <= count) break
    }
    // Traces of a lost connection reach the store before this is answered.
    await Promise.all(this.#connections.map((each) => each.list('status')))
  }

  /** Resolves when the nodes know the same functions. */
  async agree(): Promise<void> {
    for (;;) {
      const lists = await Promise.all(this.#connections.map((each) => each.list('status')))
      if (new Set(lists.map((list) => [...list].sort().join(''))).size === 1) return
    }
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}

/** True for a line of the reply to `workers` that is about a connection of the suite. */
export function isControl(line: string): boolean {
  return line.includes(` ${id} `)
}
