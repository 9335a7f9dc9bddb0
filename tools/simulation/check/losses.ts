import type { History, Submitted } from './history.ts'

/** True for a job that the store may have taken while it wrote what it has lost. */
export const mayBeLost = (
  { losses }: Pick<History, 'losses'>,
  { submittedMs, answeredMs = Infinity, answer, door }: Submitted,
): boolean =>
  losses.some(({ fromMs, toMs, keepsAcknowledged }) => {
    const isKept = keepsAcknowledged && answer === 'accepted' && door !== 'native'
    return submittedMs <= toMs && answeredMs >= fromMs && !isKept
  })
