import { defineConfig } from 'vitest/config'
import { LongFirst } from './test/support/long-first.ts'

/** The packages are built: Node loads them as they are, which saves a seventh of a run's processor time. */
const isBuilt = process.env['GATEWAY_BUILT'] !== undefined
const packages = isBuilt ? {} : { conditions: ['@crossgear/source'] }

export default defineConfig({
  resolve: packages,
  ssr: { resolve: packages },
  // Most of a test is waiting for programs in processes of their own.
  test: {
    // Files are apart by names and ports: a process for each is paid with a second of the processor.
    isolate: false,
    ...(isBuilt && { server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } } }),
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build.ts',
    maxWorkers: 3,
    // Of each file: more would only wait for the processor.
    maxConcurrency: 3,
    sequence: { sequencer: LongFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
