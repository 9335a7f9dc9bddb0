import { alone } from './support/alone.ts'
import { onStages } from './support/stage.ts'

onStages(1, alone)
