import type { Clock } from '@crossgear/core-scheduler'

/** Time and timers of this process. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer)
  },
  endOfTurn(task) {
    setImmediate(task)
  },
}
