import { ninePairsOn } from './nine-pairs.ts'

ninePairsOn('sentinel', 2)
