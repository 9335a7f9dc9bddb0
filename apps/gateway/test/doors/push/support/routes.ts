import { configFile } from '../../../support/temporary-folder.ts'

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
export function routesFile(routes: Readonly<Record<string, Keys>>): Promise<string> {
  return configFile(routesText(routes))
}

/** A route to a target of a test. */
export function pushTo(url: string, keys: Keys = {}): Keys {
  return { push: url, push_private: true, ...keys }
}
