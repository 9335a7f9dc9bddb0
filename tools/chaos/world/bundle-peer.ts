import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const name = 'peer.mjs'

/** Bundles the program of a peer into the folder of a run: hundreds of them start, each in a fourth of the time. */
export async function bundlePeer(folder: string): Promise<void> {
  const program = fileURLToPath(new URL('../peers/peer.ts', import.meta.url))
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: program,
      target: 'node20',
      minify: false,
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: name } },
    },
  })
}

/** The bundle, beside the folder of a scenario. */
export function peerOf(scenarioFolder: string): string {
  return join(scenarioFolder, '..', name)
}
