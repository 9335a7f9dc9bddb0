import type { OptionName } from '../../../../src/config/options.ts'

/** Looks from outside, by option. Each sees what the option changes. */
export type Cases = Readonly<Partial<Record<OptionName, () => Promise<void>>>>
