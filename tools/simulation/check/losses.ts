import type { History, Submitted } from './history.ts'

/** True for a job that the store may have taken while it wrote what it has lost. */
export const mayBeLost = (
  { losses }: Pick<History, 'losses'>,
  { submittedMs, answeredMs = Infinity }: Submitted,
): boolean => losses.some(({ fromMs, toMs }) => submittedMs <= toMs && answeredMs >= fromMs)
