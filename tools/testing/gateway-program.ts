import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Set where the gateway is built as the sources are now. */
const builtVariable = 'GATEWAY_BUILT'

/** Set where so few tests start the gateway that its sources take less time than a build. */
const fromSourcesVariable = 'FROM_SOURCES'

const root = fileURLToPath(new URL('../../', import.meta.url))
const bundle = `${root}apps/gateway/out-tsc/bundle/main.cjs`

/**
 * Builds the gateway once for all that this process and its children start: it starts in half the time that the
 * sources take. Where it does not build, the sources are run. True if it is built.
 */
export function buildGateway(): boolean {
  if (process.env[fromSourcesVariable] !== undefined) return false
  if (isBuilt()) return true
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'ignore' })
  if (status === 0) process.env[builtVariable] = 'yes'
  return status === 0
}

/** Bundles the gateway that was built, unless that is done. */
export function bundleGateway(): void {
  if (isBuilt() && !isBundled()) {
    spawnSync(process.execPath, [`${root}tools/scripts/bundle-gateway.mjs`], { stdio: 'inherit' })
  }
}

/** True if no module was made after the bundle. */
function isBundled(): boolean {
  if (!existsSync(bundle)) return false
  const bundledMs = statSync(bundle).mtimeMs
  const folders = ['apps', 'packages'].flatMap((place) =>
    readdirSync(`${root}${place}`).map((name) => `${root}${place}/${name}/dist`),
  )
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.d.ts'))
        .map((name) => `${folder}/${name}`),
    )
    .every((file) => statSync(file).mtimeMs < bundledMs)
}

function isBuilt(): boolean {
  return process.env[builtVariable] !== undefined
}

/** Words for Node that run a program from the sources. */
export function sourcesWords(): readonly string[] {
  return ['--conditions=@crossgear/source', '--import', import.meta.resolve('tsx')]
}

/** Words for Node that run a program with our packages as they are built, where they are. */
export function typescriptWords(): readonly string[] {
  return isBuilt() ? sourcesWords().slice(1) : sourcesWords()
}

/** Words for Node that run the gateway. */
export function gatewayWords(): readonly string[] {
  const folder = `${root}apps/gateway`
  return isBuilt() ? [`${folder}/dist/main.js`] : [...sourcesWords(), `${folder}/src/main.ts`]
}

/** Words for Node that run the bundled gateway, where there is a bundle: for tests that start it often. */
export function bundleWords(): readonly string[] {
  return isBuilt() && existsSync(bundle)
    ? [`${root}tools/testing/bundled-gateway.cjs`]
    : gatewayWords()
}
