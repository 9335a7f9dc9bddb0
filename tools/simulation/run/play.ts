import type { Plan } from '../world/plan.ts'
import { World } from '../world/world.ts'
import type { OpenStore } from '../world/sim-store.ts'

/** The end of a world. */
export interface Played {
  readonly problems: readonly string[]
  readonly events: number
  /** One line an event, if it was wanted. */
  readonly story: readonly string[]
}

/** Plays the world of a plan to its end. */
export async function play(plan: Plan, openStore: OpenStore, tells: boolean): Promise<Played> {
  const story: string[] = []
  const world = new World(plan, {
    openStore,
    ...(tells && { tell: (line: string) => void story.push(line) }),
  })
  try {
    const { problems, events } = await world.run()
    return { problems, events, story }
  } catch (error) {
    const problems = [
      `the world cannot go on: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    ]
    return { problems, events: world.timeline.events, story }
  } finally {
    await world.store.close()
  }
}
