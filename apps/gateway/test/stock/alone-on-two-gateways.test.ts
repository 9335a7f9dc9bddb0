import { alone } from './support/alone.ts'
import { onStage } from './support/stage.ts'

onStage(2, alone)
