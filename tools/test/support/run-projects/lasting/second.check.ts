import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'vitest'

const waiting = ['-e', 'console.log("started"); setInterval(() => undefined, 1_000)']

/** Programs that a run must end: one in its group of processes, and one in a group of its own. */
test('waits for ever for two programs', async () => {
  const programs = [false, true].map((detached) =>
    spawn(process.execPath, waiting, { detached, stdio: ['ignore', 'pipe', 'ignore'] }),
  )
  for (const { stdout } of programs) await once(stdout, 'data')
  process.stdout.write('both have started\n')
  await Promise.all(programs.map((program) => once(program, 'exit')))
})
