import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['@crossgear/source'] },
  ssr: { resolve: { conditions: ['@crossgear/source'] } },
  // Most of a test is waiting for servers and programs.
  test: {
    include: ['test/**/*.test.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
