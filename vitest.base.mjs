import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vitest/config'

/** @param {string} name */
const toolOf = (name) => fileURLToPath(new URL(`tools/testing/results/${name}`, import.meta.url))

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
      include: ['test/**/*.test.ts'],
      setupFiles: toolOf('noted-skips.ts'),
      reporters: ['default', toolOf('result-file.ts')],
      // For what hangs: no test is about time, and a busy machine takes several times as long.
      testTimeout: 180_000,
      hookTimeout: 180_000,
      expect: { poll: { timeout: 30_000 } },
    },
  })
  return mergeConfig(shared, own)
}

export default testsOf()
