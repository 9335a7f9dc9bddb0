import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Garbage between two collections: each takes some 20 ms. */
const garbageBytes = 20 * 1024 * 1024

/**
 * V8 lets garbage grow to twice the heap while the machine has memory. The returned function is
 * called after each page and collects it.
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
