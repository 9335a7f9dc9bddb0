import type { Commands, Value } from '../commands.ts'
import { GearMonkeyError, messageOf } from '../errors.ts'
import { idOf } from '../job-record.ts'
import { submitTogether } from './submit-script.ts'
import type { Destination } from '../submission.ts'

/** Bounds of a call that submits several jobs: a longer script would hold up the server for over 1 ms. */
const maxJobs = 100
const maxBytes = 262_144

interface Gathered {
  readonly value: Value
  readonly resolve: (id: number) => void
  readonly reject: (error: unknown) => void
}

interface Together {
  /** Ids of the first jobs, which are in the queue. */
  readonly ids: number[]
  /** Error of the next job; where the answer was lost, of all others. */
  readonly failure: { readonly cause: unknown; readonly isLost: boolean } | undefined
}

/** Submits jobs: several together by a script, a lone one by the commands of the text. */
export class Submissions {
  readonly #commands: Commands
  /** Jobs of this turn of the event loop, by function and destination. */
  readonly #gathered = new Map<string, Gathered[]>()

  constructor(commands: Commands) {
    this.#commands = commands
  }

  /** @throws GearMonkeyError NO_ID, SUBMIT_FAILED */
  one(fn: string, value: Value, destination: Destination): Promise<number> {
    return new Promise((resolve, reject) => {
      const key = `${destination} ${fn}`
      const known = this.#gathered.get(key)
      if (known) {
        known.push({ value, resolve, reject })
        return
      }
      const group: Gathered[] = [{ value, resolve, reject }]
      this.#gathered.set(key, group)
      // Calls by the answers of several connections gather, too.
      setImmediate(() => {
        this.#gathered.delete(key)
        void this.#submitGroup(fn, group, destination)
      })
    })
  }

  /** @throws GearMonkeyError NO_ID, SUBMIT_FAILED */
  async many(fn: string, values: readonly Value[], destination: Destination): Promise<number[]> {
    const { ids, failure } = await this.#together(fn, values, destination)
    if (failure) throw submitFailed(fn, failure.cause, ids)
    if (ids.length === values.length) return ids
    try {
      return [...ids, ...(await this.#singly(fn, values.slice(ids.length), destination))]
    } catch (error) {
      if (ids.length === 0 || !(error instanceof GearMonkeyError)) throw error
      throw submitFailed(fn, error.cause ?? error, [...ids, ...error.ids])
    }
  }

  /** A call of its own tells each caller of its job alone. */
  async #submitGroup(
    fn: string,
    group: readonly Gathered[],
    destination: Destination,
  ): Promise<void> {
    const values = group.map(({ value }) => value)
    const { ids, failure } = await this.#together(fn, values, destination)
    for (const [at, { value, resolve, reject }] of group.entries()) {
      const id = ids[at]
      if (id !== undefined) resolve(id)
      else if (failure && (failure.isLost || at === ids.length)) {
        reject(submitFailed(fn, failure.cause, []))
      } else {
        this.#singly(fn, [value], destination).then(([own = 0]) => resolve(own), reject)
      }
    }
  }

  /** Submits what a script can, from the first on. */
  async #together(
    fn: string,
    values: readonly Value[],
    destination: Destination,
  ): Promise<Together> {
    const ids: number[] = []
    while (this.#commands.connection.status === 'ready') {
      const part = partOf(values, ids.length)
      if (part.length < 2) break
      try {
        const answer = await submitTogether(this.#commands, fn, part, destination)
        if (!answer) break
        ids.push(...answer.ids.map(Number))
        const cause = new Error(answer.refusal)
        if (answer.hasRefusedId) return { ids, failure: { cause, isLost: false } }
        if (answer.refusal !== '') break
      } catch (cause) {
        return { ids, failure: { cause, isLost: true } }
      }
    }
    return { ids, failure: undefined }
  }

  async #singly(fn: string, values: readonly Value[], destination: Destination): Promise<number[]> {
    const replies = await this.#idsFor(fn, values.length)
    const ids = replies.map((reply) => newIdOf(fn, reply))
    const created = await Promise.allSettled(
      ids.map((id, i) => this.#commands.create(fn, id, values[i] ?? '')),
    )
    const hashed = ids.filter((_id, i) => created[i]?.status === 'fulfilled')
    const queued = await Promise.allSettled(hashed.map((id) => this.#offer(fn, id, destination)))
    const failed = [...created, ...queued].find((result) => result.status === 'rejected')
    if (failed) {
      const there = hashed.filter((_id, i) => queued[i]?.status === 'fulfilled')
      throw submitFailed(fn, failed.reason, there)
    }
    return ids
  }

  /** The publication goes out before the push, as in the text. */
  async #offer(fn: string, id: number, destination: Destination): Promise<void> {
    await this.#commands.inOrder([
      () => this.#commands.publish(fn, 'create', id),
      () => this.#commands.enqueue(fn, destination, id),
    ])
  }

  async #idsFor(fn: string, many: number): Promise<unknown[]> {
    try {
      return await Promise.all(Array.from({ length: many }, () => this.#commands.nextId(fn)))
    } catch (cause) {
      throw new GearMonkeyError('NO_ID', `${fn}: ${messageOf(cause)}`, { cause })
    }
  }
}

/** Values from a place on that one call may carry. */
function partOf(values: readonly Value[], from: number): readonly Value[] {
  let bytes = 0
  let to = from
  while (to < values.length && to - from < maxJobs) {
    bytes += lengthOf(values[to] ?? '')
    if (bytes > maxBytes) break
    to += 1
  }
  return values.slice(from, to)
}

function lengthOf(value: Value): number {
  return Buffer.isBuffer(value) ? value.length : Buffer.byteLength(String(value))
}

function newIdOf(fn: string, reply: unknown): number {
  // A connection with `stringNumbers` returns digits.
  const text = Buffer.isBuffer(reply) ? reply.toString('latin1') : reply
  const id = idOf(String(text))
  if (id !== undefined) return id
  throw new GearMonkeyError('NO_ID', `${fn}: the server answered ${JSON.stringify(text)}`)
}

function submitFailed(fn: string, cause: unknown, ids: readonly number[]): GearMonkeyError {
  return new GearMonkeyError('SUBMIT_FAILED', `${fn}: ${messageOf(cause)}`, { cause, ids })
}
