export * from './model/job.ts'
export * from './model/death-call.ts'
export type * from './clock.ts'
export type * from './store/store.ts'
export type * from './store/admin-ports.ts'
export type * from './store/claim-ports.ts'
export type * from './store/event-ports.ts'
export type * from './store/job-ports.ts'
export * from './store/lane-ports.ts'
export type * from './store/node-ports.ts'
export type * from './observer.ts'
export * from './store/step-ports.ts'
export type * from './store/native-ports.ts'
export type * from './store/batch-ports.ts'
export * from './store/audit-ports.ts'
export * from './store/history-ports.ts'
export type * from './store/holder-ports.ts'
export * from './store/inspect-ports.ts'
export * from './store/job-ends.ts'
export { defaultDeadWorkerMs, type LeaseHolders } from './maintenance/lease-holders.ts'
export * from './store/queue-ports.ts'
export type { JobSets, SetFilter } from './admin/job-sets.ts'
export type { QueueControl } from './admin/queue-control.ts'
export * from './model/lanes.ts'
export {
  functionLimit,
  limitedFunction,
  limitNames,
  maxTurnBytes,
  maxTurns,
} from './model/limit-names.ts'
export * from './model/levels.ts'
export type * from './model/route-terms.ts'
export type * from './model/requests.ts'
export { LaneRegistry, maxJobId, maxLanes } from './model/lane-registry.ts'
export type {
  Ability,
  FunctionOrder,
  LaneAccess,
  LaneGroup,
  Subscription,
} from './model/subscription.ts'
export { AnswerOrder } from './node/answer-order.ts'
export { FifoMap } from './node/fifo-map.ts'
export type { IdleWorker } from './node/idle-workers.ts'
export type { Leased } from './dispatch/lease-timers.ts'
export { nodeAnswerMs, type NodeQuestions } from './notify/node-questions.ts'
export { isFinal } from './node/waiters.ts'
export type { Administration } from './admin/administration.ts'
export type { RepairPolicy } from './maintenance/native-recovery.ts'
export type * from './model/retry-rules.ts'
export { Scheduler } from './scheduler.ts'
export type { LiveSettings, SchedulerOptions } from './scheduler-options.ts'
export type { TimedTask } from './maintenance/task-times.ts'
export * from './model/store-errors.ts'
