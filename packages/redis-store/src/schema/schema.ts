import { StoreError } from '@crossgear/core-scheduler'
import type { RedisContext } from '../connection/redis-context.ts'
import { versionOfNode } from '../connection/node-name.ts'

/**
 * Converts the structures of one version to the next while newer nodes use them: in bounded pieces, so that it may be
 * interrupted and repeated, and so that two nodes may do it at once.
 */
export type SchemaStep = (context: RedisContext) => Promise<void>

/** The first leads from version 1 to 2. There is none: version 1 is what stores without a version hold. */
export const schemaSteps: readonly SchemaStep[] = []

/** The outcome for the store's version. */
export type SchemaNews =
  /** A newer gateway has taken the store over: this node must not use it any more. */
  | { readonly kind: 'newer'; readonly message: string }
  | { readonly kind: 'taken'; readonly version: number }
  /** The next heartbeat tries again. */
  | { readonly kind: 'failed'; readonly error: unknown }

/** The version that a node knows whose table has so many steps. */
export function schemaVersion(steps: readonly SchemaStep[] = schemaSteps): number {
  return steps.length + 1
}

/** Why a gateway does not use a store. */
export function newerMessage(found: number, known: number): string {
  return `its structures are of version ${found} and this gateway knows version ${known}: start the newer gateway`
}

/**
 * Guards the version of the store's structures. Nodes of two versions work side by side on the older one; when no
 * node of it is left, the newer ones take the store over.
 */
export class Schema {
  readonly #context: RedisContext
  readonly #steps: readonly SchemaStep[]
  readonly #onNews: (news: SchemaNews) => void
  #takingOver: Promise<void> | undefined
  #isOutdated = false

  constructor(
    context: RedisContext,
    steps: readonly SchemaStep[],
    onNews: (news: SchemaNews) => void = () => undefined,
  ) {
    this.#context = context
    this.#steps = steps
    this.#onNews = onNews
  }

  /** Before anything is written. Throws a StoreError for a store of a newer version. */
  async check(): Promise<void> {
    const { call, redis, keys } = this.#context
    const found = Number((await call(() => redis.get(keys.schema))) ?? 1)
    const known = schemaVersion(this.#steps)
    if (found > known) throw new StoreError('REFUSED', newerMessage(found, known))
  }

  /** With each heartbeat: the version that was found, and the other nodes. */
  look(found: number, nodes: Iterable<string>): void {
    const known = schemaVersion(this.#steps)
    if (found > known) this.#giveUp(found, known)
    if (found >= known || this.#takingOver) return
    for (const node of nodes) if (versionOfNode(node) < known) return
    this.#takingOver = this.#takeOver(found, known)
      .catch((error: unknown) => this.#onNews({ kind: 'failed', error }))
      .finally(() => (this.#takingOver = undefined))
  }

  #giveUp(found: number, known: number): void {
    if (this.#isOutdated) return
    this.#isOutdated = true
    const message = newerMessage(found, known)
    this.#context.refuse(new StoreError('REFUSED', message))
    this.#onNews({ kind: 'newer', message })
  }

  async #takeOver(found: number, known: number): Promise<void> {
    const { run, keys } = this.#context
    for (let from = found; from < known; from += 1) {
      await this.#steps[from - 1]?.(this.#context)
      // Refused where an older node came meanwhile: all of it is done again when that one has left.
      const taken = await run('take-schema', [keys.schema, keys.nodes], [from, from + 1])
      if (taken !== 1) return
      this.#onNews({ kind: 'taken', version: from + 1 })
    }
  }
}
