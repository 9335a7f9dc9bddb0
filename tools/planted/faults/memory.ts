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
]
