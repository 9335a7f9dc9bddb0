// Build step: writes the texts of `packages/redis-store/lua` as the module that the built package imports.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { luaFiles } from '../dist/scripts/lua-files.js'

const store = new URL('../', import.meta.url)
const text = `export const luaFiles = ${JSON.stringify(luaFiles, undefined, 2)}\n`
const file = new URL('dist/lua.js', store)
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  // A gateway that starts meanwhile reads a whole file.
  const unfinished = new URL(`dist/lua.${process.pid}.tmp`, store)
  writeFileSync(unfinished, text)
  renameSync(unfinished, file)
}
