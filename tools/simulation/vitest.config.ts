import { testsOf } from '../../vitest.base.mjs'

// Some of these tests play hundreds of worlds, which takes minutes on a busy machine.
export default testsOf({ test: { testTimeout: 900_000 } })
