import { pairs } from './support/pairs.ts'
import { onStages } from './support/stage.ts'

onStages(2, pairs)
