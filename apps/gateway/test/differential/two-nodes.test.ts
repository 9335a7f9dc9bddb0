import { cases } from './cases/index.ts'
import { compareAll } from './support/suite.ts'

compareAll(
  'clients on one node, workers on the other',
  2,
  cases.filter(({ oneNode }) => oneNode === undefined),
)
