import { testsOf } from '../../vitest.base.mjs'
import { LongFirst } from './test/support/long-first.ts'

/** The packages are built: Node loads them as they are, which saves a seventh of a run's processor time. */
const isBuilt = process.env['GATEWAY_BUILT'] !== undefined

export default testsOf(
  {
    // Most of a test is waiting for programs in processes of their own.
    test: {
      ...(isBuilt && { server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } } }),
      globalSetup: 'test/support/build.ts',
      maxWorkers: 3,
      // Of each file: more would only wait for the processor.
      maxConcurrency: 3,
      sequence: { sequencer: LongFirst },
    },
  },
  { isBuilt },
)
