import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Set where the gateway is built as the sources are now. */
const builtVariable = 'GATEWAY_BUILT'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Builds the gateway once for all that this process and its children start: it starts in half the time that the
 * sources take. Where it does not build, the sources are run.
 */
export function buildGateway(): void {
  if (isBuilt()) return
  const steps = [
    [`${root}node_modules/typescript/bin/tsc`, '-b', 'tsconfig.build.json'],
    [`${root}packages/redis-store/scripts/link-lua.mjs`],
  ]
  const isDone = steps.every(
    (words) => spawnSync(process.execPath, words, { cwd: root, stdio: 'ignore' }).status === 0,
  )
  if (isDone) process.env[builtVariable] = 'yes'
}

function isBuilt(): boolean {
  return process.env[builtVariable] !== undefined
}

/** Words for Node that run a program from the sources. */
export function sourcesWords(): readonly string[] {
  return ['--conditions=@crossgear/source', '--import', import.meta.resolve('tsx')]
}

/** The same with our packages as they are built, where they are. */
export function typescriptWords(): readonly string[] {
  return isBuilt() ? sourcesWords().slice(1) : sourcesWords()
}

/** Words for Node that run the gateway. */
export function gatewayWords(): readonly string[] {
  const folder = `${root}apps/gateway`
  return isBuilt() ? [`${folder}/dist/main.js`] : [...sourcesWords(), `${folder}/src/main.ts`]
}
