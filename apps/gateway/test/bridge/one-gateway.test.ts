import { ninePairs } from './nine-pairs.ts'

ninePairs('one gateway on Redis', 1)
