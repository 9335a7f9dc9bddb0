import { testsOf } from '../../vitest.base.mjs'
import { LongFirst } from './test/support/long-first.ts'

/** The packages are built, and need not be compiled. */
const isBuilt = process.env['GATEWAY_BUILT'] !== undefined

export default testsOf(
  {
    // Most of a test is waiting for programs in processes of their own.
    test: {
      globalSetup: 'test/support/build.ts',
      maxWorkers: 3,
      // Of each file: more would only wait for the processor.
      maxConcurrency: 3,
      sequence: { sequencer: LongFirst },
    },
  },
  { isBuilt },
)
