import { ninePairs } from './support/nine-pairs.ts'

ninePairs('Redis sentinel', { engine: 'sentinel', nodes: 2 })
