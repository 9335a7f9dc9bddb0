import { ninePairs } from './nine-pairs.ts'

ninePairs('Redis cluster', { engine: 'cluster', nodes: 2 })
