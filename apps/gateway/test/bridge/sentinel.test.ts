import { ninePairsOn } from './support/nine-pairs.ts'

ninePairsOn('sentinel', 2)
