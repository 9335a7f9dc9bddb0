import type { PlantedFault } from '../planted-fault.ts'

export const faults: readonly PlantedFault[] = [
  {
    name: 'tests-watch-at-a-terminal',
    promise: 'Tests at a terminal end by themselves.',
    file: 'vitest.base.mjs',
    from: 'watch: false,',
    to: 'watch: true,',
    test: 'tools/test/npm-test.test.ts',
    testName: 'of one project ends by itself, too',
  },
  {
    name: 'skipped-tests-are-not-named',
    promise: 'Skipped tests are counted by the program that they lack.',
    file: 'tools/testing/results/noted-skips.ts',
    from: "typeof condition !== 'string'",
    to: "typeof condition !== 'symbol'",
    test: 'tools/test/results.test.ts',
  },
  {
    name: 'word-counter-takes-other-jobs',
    promise: 'Each example takes its own jobs alone.',
    file: 'examples/wordcount-worker.mjs',
    from: "labels: ['fn:wordcount']",
    to: 'labels: []',
    test: 'apps/gateway/test/bridge/examples.test.ts',
  },
  {
    name: 'password-in-the-ready-line',
    promise: "No log has the store's password.",
    file: 'apps/gateway/src/ops/log/banner.ts',
    from: "'$1:***@'",
    to: "'$&'",
    test: 'apps/gateway/test/banner.test.ts',
  },
]
