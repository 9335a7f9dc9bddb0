import { testsOf } from '../../../../../vitest.base.mjs'

export default testsOf({ test: { include: ['*.check.ts'] } })
