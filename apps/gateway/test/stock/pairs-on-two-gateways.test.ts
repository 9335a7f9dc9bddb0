import { pairs } from './support/pairs.ts'
import { onStage } from './support/stage.ts'

onStage(2, pairs)
