import { ninePairs } from './nine-pairs.ts'

ninePairs('Redis sentinel', { engine: 'sentinel', nodes: 2 })
