import { ninePairs } from './support/nine-pairs.ts'

ninePairs('Redis cluster', { engine: 'cluster', nodes: 2 })
