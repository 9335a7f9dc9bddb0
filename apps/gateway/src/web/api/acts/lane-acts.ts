import type { Handlers } from '../api.ts'
import { ApiError } from '../api-error.ts'
import type { HandlerParts } from '../handler-parts.ts'

/** Stands for every Faktory worker, as the page `/busy` has it. */
const allWorkers = 'all'

/** The name of somebody who has the operator's password. */
const somebody = 'an operator'

/** Functions that are paused at a time. */
const maxPaused = 10_000

/** Acts on functions, queues and workers as wholes. */
export function laneActs({ scheduler }: HandlerParts) {
  const { registry, admin, queues } = scheduler

  /** All lanes of a function, or the one lane of it that is named; none where none is known. */
  const knownLanes = (name: string): readonly string[] => {
    const lane = registry.names.canonical(name)
    const lanes = new Set([...registry.ofFunction(name), lane])
    return [...lanes].filter((each) => registry.numberOf(each) !== undefined)
  }
  const lanesOf = (name: string): readonly string[] => {
    const known = knownLanes(name)
    if (known.length === 0) throw new ApiError('unknown_function', `no function ${name} is known`)
    return known
  }
  const each = async (
    lanes: readonly string[],
    act: (lane: string) => Promise<unknown>,
  ): Promise<{ functions: string[] }> => {
    for (const lane of lanes) await act(lane)
    return { functions: [...lanes] }
  }
  const eachLane = (functions: readonly string[], act: (lane: string) => Promise<unknown>) =>
    each(functions.flatMap(lanesOf), act)
  /** The same; an unknown function is created. */
  const eachOrNew = (functions: readonly string[], act: (lane: string) => Promise<unknown>) => {
    const lanes = functions.flatMap((name) => {
      const known = knownLanes(name)
      return known.length > 0 ? known : [registry.names.canonical(name)]
    })
    return each(lanes, act)
  }

  return {
    async pauseQueues({ body, who }) {
      await queues.pause(body.queues, who ?? somebody)
      const known = new Set(registry.queues())
      return { queues: body.queues, unknown: body.queues.filter((queue) => !known.has(queue)) }
    },

    async resumeQueues({ body }) {
      await queues.resume(body.queues)
      return { queues: body.queues }
    },

    async dropQueues({ body }) {
      const known = new Set(registry.queues())
      for (const queue of body.queues) {
        if (!known.has(queue)) throw new ApiError('not_found', `no queue ${queue} is known`)
      }
      for (const queue of body.queues) await queues.remove(queue)
      // Jobs that come from now on belong to a new queue.
      await queues.resume(body.queues)
      return { queues: body.queues }
    },

    async pauseFunctions({ body, who }) {
      const names = body.functions.map((name) => registry.names.canonical(name))
      for (const name of names) lanesOf(name)
      if (queues.pausedFunctions.size + names.length > maxPaused) {
        throw new ApiError('not_accepted', `${maxPaused} functions at most are paused at a time`)
      }
      await queues.pauseFunctions(names, who ?? somebody)
      return { functions: names }
    },

    async resumeFunctions({ body }) {
      const names = body.functions.map((name) => registry.names.canonical(name))
      await queues.resumeFunctions(names)
      return { functions: names }
    },

    openFunctions: ({ body }) => eachOrNew(body.functions, (lane) => scheduler.openKeptLane(lane)),

    closeFunctions: ({ body }) => eachOrNew(body.functions, (lane) => scheduler.closeLane(lane)),

    setLimits({ body }) {
      const { function: fn, ...limits } = body
      return eachLane([fn], (lane) => admin.setLimits(lane, limits))
    },

    dropFunctions: ({ body }) =>
      eachLane(body.functions, async (lane) => {
        if ((await admin.dropLane(lane)) === 'busy') {
          throw new ApiError('in_use', `${lane} has workers or running jobs`)
        }
      }),

    async orderWorkers({ body }) {
      const { wid, signal } = body
      await queues.order(wid === allWorkers ? '*' : wid, signal)
      return { wid, signal }
    },
  } satisfies Partial<Handlers>
}
