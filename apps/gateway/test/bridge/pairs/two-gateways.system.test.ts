import { ninePairs } from './nine-pairs.ts'

ninePairs('two gateways on Redis', { nodes: 2 })
