// Build step: writes all scripts in `packages/redis-store/lua`, linked, as the module that the
// built package imports.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { linkScripts } from '../dist/scripts/link-scripts.js'

const store = new URL('../', import.meta.url)
const scripts = linkScripts(new URL('lua/', store))
const text = `export const linkedScripts = ${JSON.stringify(scripts, undefined, 2)}\n`
const file = new URL('dist/lua.js', store)
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  // Written aside and renamed: a gateway that starts meanwhile reads a whole file.
  const unfinished = new URL(`dist/lua.${process.pid}.tmp`, store)
  writeFileSync(unfinished, text)
  renameSync(unfinished, file)
}
