import { cases } from './cases/index.ts'
import { compareAll } from './support/suite.ts'

compareAll(cases)
