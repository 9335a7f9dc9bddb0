import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Compiling the load generator takes its time on a busy machine.
  test: {
    isolate: false,
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
