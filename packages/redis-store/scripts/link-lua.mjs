// A step of `npm run build`: writes the scripts in `packages/redis-store/lua`, each with what it includes, as the
// module that the built package imports.
import { renameSync, writeFileSync } from 'node:fs'
import { linkScripts } from '../dist/scripts/link-scripts.js'

const store = new URL('../', import.meta.url)
const scripts = linkScripts(new URL('lua/', store))
const text = `export const linkedScripts = ${JSON.stringify(scripts, undefined, 2)}\n`
// A gateway that starts meanwhile reads the whole of it.
const unfinished = new URL(`dist/lua.${process.pid}.tmp`, store)
writeFileSync(unfinished, text)
renameSync(unfinished, new URL('dist/lua.js', store))
