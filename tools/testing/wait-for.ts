import { setTimeout as delay } from 'node:timers/promises'

const lookAgainMs = 20
const givesUpAfterMs = 30_000

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
