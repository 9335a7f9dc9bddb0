import type { RowGroup } from '../bench.ts'
import { background, backgroundStored } from './background.ts'
import { bridge, faktory, faktoryLoad } from './faktory.ts'
import { foreground, uniqueIds } from './foreground.ts'
import { functionsOfAWorker } from './functions-of-a-worker.ts'
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
  backgroundStored,
  latency,
  functionsOfAWorker,
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
