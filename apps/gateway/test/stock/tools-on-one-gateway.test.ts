import { onStage } from './support/stage.ts'
import { tools } from './support/tools.ts'

onStage(1, tools)
