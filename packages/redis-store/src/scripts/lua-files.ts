import { readdirSync, readFileSync } from 'node:fs'

/** Texts of the folder `lua/` by path without `.lua`, as `lib/keys` and `jobs/cancel`. */
export type LuaFiles = Readonly<Record<string, string>>

/** All Lua files below a folder, in the order of their paths. */
export function readLuaFiles(folder: URL): LuaFiles {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = paths
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.lua'))
  return Object.fromEntries(
    files
      .toSorted()
      .map((path) => [path.slice(0, -'.lua'.length), readFileSync(new URL(path, folder), 'utf8')]),
  )
}

/** Tests and programs that run from source read them; the build writes their texts to `dist/lua.js`, which takes this module's place. */
export const luaFiles: LuaFiles = readLuaFiles(new URL('../../lua/', import.meta.url))
