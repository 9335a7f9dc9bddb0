import { fileURLToPath } from 'node:url'

/** Words for Node that start a run of tests. */
export const runWords: readonly string[] = [
  '--import',
  import.meta.resolve('tsx'),
  fileURLToPath(new URL('../../testing/results/run-all.ts', import.meta.url)),
]
