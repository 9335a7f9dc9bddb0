import { ninePairs } from './support/nine-pairs.ts'

ninePairs('two gateways on Redis', { nodes: 2 })
