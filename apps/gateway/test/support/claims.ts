import type { Assignment, Scheduler } from '@crossgear/core-scheduler'

/** The next job for a worker that named the function; nothing where there is none. */
export function claimByName(scheduler: Scheduler, fn: string): Promise<Assignment | undefined> {
  return new Promise((resolve, reject) => {
    scheduler.claim({
      subscription: scheduler.namedSubscription([{ fn }]),
      gone: false,
      assigned: resolve,
      onEmpty: () => resolve(undefined),
      refused: reject,
      failed: reject,
    })
  })
}
