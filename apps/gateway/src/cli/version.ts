import { readFileSync } from 'node:fs'

/** The gearmand that the Gearman and HTTP doors answer as: client libraries compare the number. */
export const gearmandVersion = '1.1.20'
/** The Faktory server that INFO names, for the same reason. */
export const faktoryVersion = '1.10.0'

/** What `--version` prints. */
export function versionLine(version: string): string {
  return `${version} (answers as gearmand ${gearmandVersion} and Faktory ${faktoryVersion})`
}

/** The version in the package's own package.json. */
export function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
