import type { RowGroup } from '../bench.ts'
import { background } from './background.ts'
import { bridge, faktory, faktoryLoad } from './faktory.ts'
import { foreground, uniqueIds } from './foreground.ts'
import { hostile } from './hostile.ts'
import { join } from './join.ts'
import { latency } from './latency.ts'
import { migration } from './migrate.ts'
import { rest, start } from './rest.ts'
import { scrape } from './scrape.ts'
import { step } from './step.ts'

/** Every group of rows, in the order of the table. */
export const rowGroups: readonly RowGroup[] = [
  foreground,
  uniqueIds,
  background,
  latency,
  faktory,
  faktoryLoad,
  bridge,
  step,
  rest,
  join,
  start,
  scrape,
  migration,
  hostile,
]
