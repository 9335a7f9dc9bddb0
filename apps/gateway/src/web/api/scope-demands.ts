import type { LaneNames } from '@crossgear/core-scheduler'
import type { Endpoints, OperationName } from './endpoints.ts'
import type { HandlerInput, Scope } from './scope.ts'

/** Each throws an ApiError where an input names what is not the caller's. */
type Demands = {
  readonly [Name in OperationName]?: (
    input: HandlerInput<Endpoints[Name]>,
    scope: Scope,
    names: LaneNames,
  ) => void
}

const queues = ({ body }: { body: { queues: string[] } }, scope: Scope): void => {
  for (const queue of body.queues) scope.demandQueue(queue)
}

const functions = (
  { body }: { body: { functions: string[] } },
  scope: Scope,
  names: LaneNames,
): void => {
  for (const name of body.functions) scope.demandTarget(names.canonical(name))
}

/** Calls that name a function or a queue. Those that name jobs or cron entries look at them first, and lists leave others out. */
export const scopeDemands: Demands = {
  pauseQueues: queues,
  resumeQueues: queues,
  dropQueues: queues,
  pauseFunctions: functions,
  resumeFunctions: functions,
  dropFunctions: functions,
  openFunctions: functions,
  closeFunctions: functions,
  setLimits: ({ body }, scope, names) => scope.demandTarget(names.canonical(body.function)),
  submitJob: ({ body }, scope, names) => {
    const { function: fn, queue } = body
    scope.demandTarget(queue === undefined ? names.canonical(fn) : names.lane(fn, queue))
  },
  getHistory: ({ query }, scope) => {
    if (query.function !== undefined) scope.demandFunction(query.function)
    if (query.queue !== undefined) scope.demandQueue(query.queue)
  },
  orderWorkers: (_input, scope) => {
    throw scope.refusal('a worker, which may serve all queues,')
  },
}
