import { ninePairsOn } from './support/nine-pairs.ts'

ninePairsOn('cluster', 2)
