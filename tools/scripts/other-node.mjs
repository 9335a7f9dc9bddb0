// `npm run test:node -- 24`: runs the tests of codecs, core, store, GearMonkey and command line, and a job through the
// gateway on its embedded store, on another Node. Without a number on this one.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Folders with tests, and the files to run there; all if none is named. */
const suites = {
  'packages/gearman-codec': [],
  'packages/fwp-codec': [],
  'packages/peers': [],
  'packages/core-scheduler': [],
  'packages/gearmonkey-redis': [],
  'packages/redis-store': [],
  'apps/gateway': [
    'test/commands/command-line.system.test.ts',
    'test/store/embedded-store.test.ts',
    'test/config/config.test.ts',
    'test/config/config-file.test.ts',
    'test/doors/gearman/two-nodes.test.ts',
    'test/doors/http/plain-clients.test.ts',
  ],
}

/**
 * @param {string} program
 * @param {readonly string[]} words
 * @param {string} cwd
 */
function run(program, words, cwd) {
  const { status } = spawnSync(program, words, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}`)
}

/**
 * The binary of a version, from the npm package that has it.
 * @param {string} version
 * @param {string} folder
 */
function install(version, folder) {
  const name = `node-${process.platform}-${process.arch}`
  run('npm', ['install', '--no-save', '--prefix', folder, `${name}@${version}`], folder)
  return join(folder, 'node_modules', name, 'bin/node')
}

const [version] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'crossgear-node-'))
try {
  const node = version === undefined ? process.execPath : install(version, folder)
  run(node, ['--version'], root)
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  for (const [place, files] of Object.entries(suites)) {
    run(node, [vitest, 'run', ...files], join(root, place))
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
