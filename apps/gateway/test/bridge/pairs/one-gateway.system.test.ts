import { ninePairs } from './nine-pairs.ts'

ninePairs('one gateway on Redis', { nodes: 1, isThorough: true })
