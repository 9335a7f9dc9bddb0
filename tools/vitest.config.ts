import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Packages that are taken in have maps of sources that they do not bring.
  logLevel: 'error',
  // Compiling the load generator takes its time on a busy machine.
  test: {
    isolate: false,
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/packs.ts',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // It imports JSON, which Node alone takes with an attribute only.
    server: { deps: { inline: ['@actions/workflow-parser'] } },
  },
})
