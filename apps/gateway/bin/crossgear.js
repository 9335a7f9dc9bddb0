#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

// All programs of the package are this file: npx starts a package whose programs are one and the same.
const [, command] = /^crossgear-(gearmand|faktory)$/.exec(basename(process.argv[1] ?? '')) ?? []
if (command !== undefined) process.argv.splice(1, 1, fileURLToPath(import.meta.url), command)

const program = new URL('../dist/main.js', import.meta.url)
/** In a checkout: builds first. A published package has no builder and needs none. */
const builder = new URL('../../../tools/scripts/start.mjs', import.meta.url)
if (existsSync(program)) {
  await import(program.href)
} else if (existsSync(builder)) {
  await import(builder.href)
} else {
  process.stderr.write('Crossgear is not built yet: run npm run build, or npm start, first.\n')
  process.exit(1)
}
