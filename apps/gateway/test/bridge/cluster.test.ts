import { ninePairsOn } from './nine-pairs.ts'

ninePairsOn('cluster', 2)
