import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'

const fromSource = { conditions: ['@crossgear/source'] }

/** See vitest.base.d.mts. */
export function testsOf(own = {}, { isBuilt = false } = {}) {
  const shared = defineConfig({
    ...(!isBuilt && { resolve: fromSource, ssr: { resolve: fromSource } }),
    test: {
      // A terminal would make it wait for changes of files.
      watch: false,
      // Files are apart by names and ports: a process for each is paid with a second of the processor.
      isolate: false,
      // Collecting garbage was a fifth of a worker's time.
      execArgv: ['--max-semi-space-size=64'],
      // Most of a test is waiting for servers and programs in processes of their own.
      maxWorkers: availableParallelism() + 1,
      include: ['test/**/*.test.ts'],
      setupFiles: fileURLToPath(new URL('tools/testing/results/noted-skips.ts', import.meta.url)),
      // For what hangs: no test is about time, and a busy machine takes several times as long.
      testTimeout: 180_000,
      hookTimeout: 180_000,
      expect: { poll: { timeout: 90_000 } },
    },
  })
  return mergeConfig(shared, own)
}

export default testsOf()
