import { readFileSync } from 'node:fs'
import { packageFolder } from '../../config/package-folder.ts'
import { faktoryVersion } from '../../doors/faktory/faktory-version.ts'
import { gearmandVersions } from '../../doors/gearman/gearmand-version.ts'

/** Output of `--version`. */
export function versionLine(version: string): string {
  return `${version} (answers as gearmand ${gearmandVersions['1.1'].number} and Faktory ${faktoryVersion})`
}

/** Version from the package's own package.json. */
export function readVersion(): string {
  const text = readFileSync(new URL('package.json', packageFolder), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
