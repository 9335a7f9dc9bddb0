import { defineConfig } from 'vitest/config'

/** Compared with a gearmand beside it, on demand: npm run test:differential. */
const onDemand = ['test/differential/**']

export default defineConfig({
  resolve: { conditions: ['@crossgear/source'] },
  ssr: { resolve: { conditions: ['@crossgear/source'] } },
  // Most of a test is waiting for programs in processes of their own.
  test: {
    include: ['test/**/*.test.ts'],
    exclude: process.env['CROSSGEAR_ON_DEMAND'] ? [] : onDemand,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
