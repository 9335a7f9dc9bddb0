import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['@crossgear/source'] },
  ssr: { resolve: { conditions: ['@crossgear/source'] } },
  // Most of a test is waiting for servers and programs.
  test: {
    // Files are apart by names and ports: a process for each is paid with a second of the processor.
    isolate: false,
    include: ['test/**/*.test.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
