import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const program = ['--conditions=@crossgear/source', '--import', import.meta.resolve('tsx'), main]
const worlds = 300

/** Returns what the command says of the first worlds. Other seeds are played at night. */
function playWorlds(): Promise<string> {
  // The other tests have a core for themselves.
  const processes = Math.max(1, availableParallelism() - 1)
  const words = Object.entries({ seeds: worlds, processes })
  const all = [...program, ...words.flatMap(([name, value]) => [`--${name}`, String(value)])]
  return new Promise((resolve) => {
    execFile(process.execPath, all, { maxBuffer: 2 ** 28 }, (_, stdout, stderr) => {
      resolve(stdout + stderr)
    })
  })
}

test('the first worlds keep every promise', { timeout: 1_800_000 }, async () => {
  expect(await playWorlds()).toContain(`\n${worlds} passed, 0 failed\n`)
})
