import type { Level } from './job.ts'

/** The three lists of a GearMonkey function. */
export type Band = 'high' | 'normal' | 'low'

/** Bands in the order in which workers empty them. */
export const bands: readonly Band[] = ['high', 'normal', 'low']

/** Level of a job without a priority. */
export const defaultLevel: Level = 5

/** Levels of Gearman's three priorities; most jobs of a band have this level. */
export const bandLevel: Readonly<Record<Band, Level>> = { high: 8, normal: 5, low: 2 }

/** Levels without a counter of their own in the store. */
export const usualLevels: readonly Level[] = Object.values(bandLevel)

/** The band of a level: 7-9 high, 4-6 normal, 1-3 low. */
export function bandOf(level: Level): Band {
  return level >= 7 ? 'high' : level >= 4 ? 'normal' : 'low'
}
