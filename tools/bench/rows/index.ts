import type { RowGroup } from '../bench.ts'
import { background, backgroundKept } from './background.ts'
import { dashboards } from './dashboards.ts'
import { bridge, faktory, faktoryLatency, faktoryLoad } from './faktory.ts'
import { floor } from './floor.ts'
import { foreground, uniqueIds } from './foreground.ts'
import { hostile } from './hostile.ts'
import { idleWorkers } from './idle-workers.ts'
import { join } from './join.ts'
import { latency } from './latency.ts'
import { migration } from './migrate.ts'
import { native } from './native.ts'
import { memory, queued } from './queued.ts'
import { rest, start } from './rest.ts'
import { scale } from './scale.ts'
import { scrape } from './scrape.ts'
import { step } from './step.ts'

/** Every group of rows, in the order of the table. */
export const rowGroups: readonly RowGroup[] = [
  foreground,
  uniqueIds,
  background,
  backgroundKept,
  latency,
  idleWorkers,
  queued,
  faktory,
  faktoryLatency,
  faktoryLoad,
  bridge,
  native,
  step,
  memory,
  scale,
  rest,
  join,
  start,
  dashboards,
  scrape,
  floor,
  migration,
  hostile,
]
