import { fileURLToPath } from 'node:url'
import { builtVariable } from './build.ts'

/** What lets Node run a program from the sources. */
export const sourcesOptions: readonly string[] = [
  '--conditions=@crossgear/source',
  '--import',
  import.meta.resolve('tsx'),
]

const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))

/** Words for Node that run the gateway. */
export const gatewayProgram: readonly string[] =
  process.env[builtVariable] === undefined
    ? [...sourcesOptions, pathOf('src/main.ts')]
    : [pathOf('dist/main.js')]
