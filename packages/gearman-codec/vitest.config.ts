import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['@crossgear/source'] },
  ssr: { resolve: { conditions: ['@crossgear/source'] } },
  test: {
    isolate: false,
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
