import type { RowGroup } from '../bench.ts'
import { background, backgroundKept } from './background.ts'
import { foreground } from './foreground.ts'
import { latency } from './latency.ts'

/** Every group of rows, in the order of the table. */
export const rowGroups: readonly RowGroup[] = [foreground, background, backgroundKept, latency]
