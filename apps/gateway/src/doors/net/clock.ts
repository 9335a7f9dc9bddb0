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

/** The answer, or `late` where none comes in time. */
export async function inTime<Value, Late>(
  answer: Promise<Value>,
  ms: number,
  late: Late,
): Promise<Value | Late> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<Late>((resolve) => {
    timer = setTimeout(resolve, ms, late)
  })
  return await Promise.race([answer, tooLate]).finally(() => clearTimeout(timer))
}
