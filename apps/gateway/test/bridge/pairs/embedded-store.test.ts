import { ninePairs } from './nine-pairs.ts'

ninePairs('the embedded store')
