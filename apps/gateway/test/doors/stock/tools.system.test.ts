import { tools } from './support/tools.ts'
import { onStages } from './support/stage.ts'

onStages(1, tools)
