import { testsOf } from '../vitest.base.mjs'

/** The packages are built, and need not be compiled. */
const isBuilt = process.env['GATEWAY_BUILT'] !== undefined

export default testsOf(
  {
    // Packages that are taken in have maps of sources that they do not bring.
    logLevel: 'error',
    test: {
      globalSetup: 'test/support/packs.ts',
      // The package imports JSON, which Node alone takes with an attribute only.
      server: { deps: { inline: ['@actions/workflow-parser'] } },
    },
  },
  { isBuilt },
)
