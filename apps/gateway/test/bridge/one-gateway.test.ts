import { ninePairs } from './support/nine-pairs.ts'

ninePairs('one gateway on Redis', 1)
