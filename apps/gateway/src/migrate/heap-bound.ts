import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Garbage between two collections: each of them costs some 20 ms. */
const garbageBytes = 20 * 1024 * 1024

/**
 * V8 lets garbage pile up while the machine has memory, to twice of what the tool needs. The returned function is called
 * behind each page, and collects what has come since.
 */
export function boundHeap(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let leftBytes = usedBytes()
  return () => {
    if (usedBytes() - leftBytes < garbageBytes) return
    collect()
    leftBytes = usedBytes()
  }
}

function usedBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
