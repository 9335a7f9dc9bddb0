import { ninePairs } from './support/nine-pairs.ts'

ninePairs('the embedded store')
