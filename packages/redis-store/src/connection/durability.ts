import { StoreError } from '@crossgear/core-scheduler'
import { storeErrorOf } from './errors.ts'
import type { RedisContext } from './redis-context.ts'
import type { Replicas, Role } from './replicas.ts'
import type { StoreEpoch } from './store-epoch.ts'

/**
 * Meaning of an acceptance: the server has it, its disk has it, or this many replicas have it. `auto`: with Sentinels each
 * replica that keeps up has it, elsewhere the server.
 */
export type Durability =
  | { readonly level: 'auto' }
  | { readonly level: 'store' }
  | { readonly level: 'fsync' }
  | { readonly level: 'replicas'; readonly replicas: number }

/**
 * Time for the disk or the replicas, milliseconds. With `everysec` the disk takes up to a second.
 */
export const confirmWithinMs = { fsync: 2_000, replicas: 1_000 } as const

/** The connection with the writes: the question is about it. */
interface Asked {
  call(command: string, ...words: (string | number)[]): Promise<unknown>
  on(event: 'close', lost: () => void): unknown
}

/** Asks if the writes of a connection are durable; names what they lack, if anything. */
type Question = (connection: Asked) => Promise<string | undefined>

interface Waiting {
  /** Connections that were lost before. */
  readonly losses: number
  readonly resolve: () => void
  readonly reject: (error: StoreError) => void
}

/**
 * Asks if writes are durable: once for all answers of a turn, one question at a time, since it blocks the connection. It is
 * sent after the answers: a script that the server had lost is sent again, and would otherwise come after the question.
 */
export class Confirmations {
  readonly #connection: Asked
  readonly #question: Question
  #waiting: Waiting[] = []
  #isAsking = false
  /** Another connection knows nothing of what was written on the one before. */
  #losses = 0

  constructor(connection: Asked, question: Question) {
    this.#connection = connection
    this.#question = question
    connection.on('close', () => (this.#losses += 1))
  }

  /** Settles when everything the server has answered so far is durable. */
  confirm(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ losses: this.#losses, resolve, reject })
      if (this.#isAsking) return
      this.#isAsking = true
      process.nextTick(() => void this.#askOn())
    })
  }

  async #askOn(): Promise<void> {
    while (this.#waiting.length > 0) {
      const asking = this.#waiting
      this.#waiting = []
      const failure = await this.#ask()
      for (const { losses, resolve, reject } of asking) {
        if (failure) reject(failure)
        else if (losses === this.#losses) resolve()
        else reject(connectionLost())
      }
    }
    this.#isAsking = false
  }

  async #ask(): Promise<StoreError | undefined> {
    try {
      const lacking = await this.#question(this.#connection)
      return lacking === undefined ? undefined : new StoreError('UNCONFIRMED', lacking)
    } catch (error) {
      // For instance from a master that has become a replica.
      if (error instanceof Error && error.name === 'ReplyError') {
        return new StoreError('UNCONFIRMED', error.message, { cause: error })
      }
      return storeErrorOf(error)
    }
  }
}

function connectionLost(): StoreError {
  return new StoreError('UNREACHABLE', 'the connection was lost')
}

/** The question for a server; undefined if its answer to a script says enough. */
export function questionOf(
  durability: Durability,
  { epoch, replicas: known }: Pick<RedisContext, 'epoch' | 'replicas'>,
): Question | undefined {
  switch (durability.level) {
    case 'store':
      return undefined
    case 'auto':
      return known && ((connection) => lackedBy(known, epoch, connection))
    case 'fsync':
      return async (connection) => {
        const answer = await connection.call('WAITAOF', 1, 0, confirmWithinMs.fsync)
        const isOnDisk = Number((answer as unknown[])[0]) >= 1
        return isOnDisk ? undefined : `not on disk within ${confirmWithinMs.fsync} ms`
      }
    case 'replicas': {
      const { replicas } = durability
      return async (connection) => {
        const confirmed = await confirmedBy(connection, replicas)
        return confirmed >= replicas
          ? undefined
          : `${confirmed} of ${replicas} replicas within ${confirmWithinMs.replicas} ms`
      }
    }
  }
}

/** Each replica that keeps up must have the writes: one that lacks them may be the next master, or be so already. */
async function lackedBy(
  known: Replicas,
  epoch: StoreEpoch,
  connection: Asked,
): Promise<string | undefined> {
  for (;;) {
    const wanted = known.count
    const confirming = wanted === 0 ? 0 : confirmedBy(connection, wanted)
    // A replica that follows from now on begins with these writes.
    const asked = await Promise.all([confirming, connection.call('ROLE')])
    const [confirmed, role] = asked as [number, Role]
    const isMaster =
      confirmed < wanted ? await epoch.isStillMaster(confirmed) : String(role[0]) === 'master'
    if (!isMaster) return 'a replica takes the place of its master'
    if (confirmed < wanted || known.hasAll(role)) return undefined
    await epoch.look()
    if (epoch.isHeld) return 'a replica takes the place of its master'
  }
}

/** How many replicas have confirmed the writes of a connection, in time. */
async function confirmedBy(connection: Asked, replicas: number): Promise<number> {
  return Number(await connection.call('WAIT', replicas, confirmWithinMs.replicas))
}
