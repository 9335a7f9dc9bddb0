import type { Clock } from '@crossgear/core-scheduler'

/** The clock of a program that runs. */
export function realClock(): Clock {
  return {
    nowMs: () => performance.now(),
    after: (ms, task) => {
      const timer = setTimeout(task, ms)
      return () => clearTimeout(timer)
    },
    endOfTurn: (task) => void setImmediate(task),
  }
}
