// `npm start -- [options]`: builds what is not built, then runs the gateway in this process.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** @param {string} path */
function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/**
 * The newest change to a source of a project.
 * @param {string} folder
 * @returns {number}
 */
function newestSource(folder) {
  const times = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? newestSource(path) : modifiedAt(path)
  })
  return Math.max(0, ...times)
}

/**
 * The compiler renews a project's build info whenever it finds the project up to date.
 * @param {string} project path of its tsconfig, from the root
 */
function isBuilt(project) {
  const folder = join(root, project, '..')
  const builtAt = modifiedAt(join(folder, 'dist/tsconfig.lib.tsbuildinfo'))
  const settings = [join(root, project), join(root, 'tsconfig.base.json')].map(modifiedAt)
  return builtAt > Math.max(newestSource(join(folder, 'src')), ...settings)
}

function hasLua() {
  const store = join(root, 'packages/redis-store')
  return modifiedAt(join(store, 'dist/lua.js')) > newestSource(join(store, 'lua'))
}

function build() {
  process.stderr.write('Building Crossgear...\n')
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status === 0) return
  process.stderr.write('The build failed: run npm ci, then npm start again.\n')
  process.exit(1)
}

const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8'))
const isReady = references.every((/** @type {{ path: string }} */ { path }) => isBuilt(path))
if (!isReady || !hasLua()) build()
await import(pathToFileURL(join(root, 'apps/gateway/dist/main.js')).href)
