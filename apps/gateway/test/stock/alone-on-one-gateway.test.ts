import { alone } from './support/alone.ts'
import { onStage } from './support/stage.ts'

onStage(1, alone)
