import { runProcess } from './cluster/run-process.ts'

// One of the processes of `--processes`: started by its parent, and of no use without one.
process.exit(await runProcess())
