import { testsOf } from '../../vitest.base.mjs'

export default testsOf()
