import { chunks } from '../chunks.ts'
import type { RedisContext } from '../connection/redis-context.ts'

/** Lanes in one question, some 150 us of the store's time; where something is found, parts of it are asked about. */
const lanesAtOnce = 64
const lanesPerPart = 8
/** Questions in progress: the store has work while an answer comes. */
const questionsAtOnce = 4
/** Lanes kept without a question, after one that found something in most of its lanes. */
const leftUnasked = 1_024

/** A question about many lanes costs the store a fifth of what a script for each would. */
interface Question {
  /** Appends the keys of all that a lane may hold. */
  readonly addKeys: (lane: string, keys: string[]) => void
  /** A sorted set of lanes that hold something else. */
  readonly index?: string
}

/** Leaves out empty lanes; some empty ones may remain. In a cluster all remain. */
export async function occupiedLanes(
  context: RedisContext,
  lanes: readonly string[],
  question: Question,
): Promise<readonly string[]> {
  if (context.isCluster) return lanes
  const { call, redis } = context
  const { index } = question
  const isIndexed = index !== undefined && (await call(() => redis.exists(index))) === 1
  return new Search(context, isIndexed ? question : { addKeys: question.addKeys }).run(lanes)
}

class Search {
  readonly #context: RedisContext
  readonly #question: Question
  /** Lanes that the next pieces keep without a question. */
  #unasked = 0

  constructor(context: RedisContext, question: Question) {
    this.#context = context
    this.#question = question
  }

  async run(lanes: readonly string[]): Promise<readonly string[]> {
    const pieces = [...chunks(lanes, lanesAtOnce)]
    const found: (readonly string[])[] = []
    let next = 0
    const goOn = async (): Promise<void> => {
      while (next < pieces.length) {
        const at = next
        next += 1
        found[at] = await this.#piece(pieces[at] ?? [])
      }
    }
    await Promise.all(Array.from({ length: questionsAtOnce }, goOn))
    return found.flat()
  }

  async #piece(lanes: readonly string[]): Promise<readonly string[]> {
    if (this.#unasked > 0) {
      this.#unasked -= lanes.length
      return lanes
    }
    const occupied = await this.#look(lanes)
    if (occupied.length > lanes.length / 2) this.#unasked = leftUnasked
    return occupied
  }

  async #look(lanes: readonly string[]): Promise<readonly string[]> {
    const { call, redis } = this.#context
    const { addKeys, index } = this.#question
    const keys: string[] = []
    for (const lane of lanes) addKeys(lane, keys)
    // The index first: a job that goes from there into a list meanwhile is in the list then.
    const [indexed, there] = await call(() =>
      Promise.all([index ? redis.zmscore(index, ...lanes) : [], redis.exists(...keys)]),
    )
    if (there > 0 && lanes.length > lanesPerPart) {
      return (
        await Promise.all([...chunks(lanes, lanesPerPart)].map((part) => this.#look(part)))
      ).flat()
    }
    return there > 0 ? lanes : lanes.filter((_lane, at) => typeof indexed[at] === 'string')
  }
}
