import { testsOf } from '../../vitest.base.mjs'

/** The packages are built, and need not be compiled. */
const isBuilt = process.env['GATEWAY_BUILT'] !== undefined

export default testsOf(
  {
    test: {
      globalSetup: 'test/support/build.ts',
      // Of each file: more would only wait for the processor.
      maxConcurrency: 3,
    },
  },
  { isBuilt },
)
