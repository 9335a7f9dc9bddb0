import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export type Keys = Readonly<Record<string, string | number | boolean>>

/** Routes as tables of the file. */
export function routesText(routes: Readonly<Record<string, Keys>>): string {
  return Object.entries(routes)
    .map(([fn, keys]) => {
      const lines = Object.entries(keys).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
      return [`[routes.${fn}]`, ...lines, ''].join('\n')
    })
    .join('\n')
}

/** A file with these routes, which is gone after the test. */
export async function routesFile(routes: Readonly<Record<string, Keys>>): Promise<string> {
  const path = join(await temporaryFolder(), 'crossgear.toml')
  writeFileSync(path, routesText(routes))
  return path
}

/** A route to a target of a test. */
export function pushTo(url: string, keys: Keys = {}): Keys {
  return { push: url, push_private: true, ...keys }
}
