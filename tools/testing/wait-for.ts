import { setTimeout as delay } from 'node:timers/promises'

const lookAgainMs = 20
/** For what hangs: no test is about time, and a busy machine takes several times as long. */
const givesUpAfterMs = 90_000

/** For `vi.waitFor`, whose own second is too short for a busy machine. */
export const soon = { timeout: givesUpAfterMs, interval: lookAgainMs }

/** Resolves when `look` says so. */
export async function waitFor(what: string, look: () => Promise<boolean>): Promise<void> {
  for (let waitedMs = 0; waitedMs < givesUpAfterMs; waitedMs += lookAgainMs) {
    if (await look()) return
    await delay(lookAgainMs)
  }
  throw new Error(`it does not come about: ${what}`)
}
