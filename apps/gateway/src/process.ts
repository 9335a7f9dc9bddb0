import { runProcess } from './cluster/run-process.ts'

// A child process of `--processes`, started by its parent.
process.exit(await runProcess())
