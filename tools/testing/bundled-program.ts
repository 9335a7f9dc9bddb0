import { basename, join } from 'node:path'
import { build, type Plugin } from 'vite'

const conditions = ['@crossgear/source']

/**
 * Bundles a program of the repository, as its sources are, into a file of the folder. One file starts in a fraction of the
 * processor time of many that are compiled as they are loaded.
 */
export async function bundleProgram(
  source: string,
  folder: string,
  plugins: readonly Plugin[] = [],
): Promise<string> {
  const name = basename(source).replace(/\.ts$/, '.mjs')
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [...plugins],
    resolve: { conditions },
    ssr: { noExternal: true, resolve: { conditions } },
    build: {
      ssr: source,
      target: 'node20',
      minify: false,
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: name } },
    },
  })
  return join(folder, name)
}
