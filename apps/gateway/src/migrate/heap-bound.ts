import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Jobs between two collections: some 30 MB of garbage, and 10 ms for each. */
const jobsBetween = 10_000

/**
 * V8 lets garbage pile up while the machine has memory, to twice of what the tool needs. The returned function is called
 * with the jobs so far, and collects it now and then.
 */
export function boundHeap(): (jobs: number) => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let nextAt = jobsBetween
  return (jobs) => {
    if (jobs < nextAt) return
    nextAt = jobs + jobsBetween
    collect()
  }
}
