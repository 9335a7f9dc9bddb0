import { testsOf } from '../../vitest.base.mjs'

// Most of a test is waiting for servers and programs.
export default testsOf({ test: { maxWorkers: 2 } })
