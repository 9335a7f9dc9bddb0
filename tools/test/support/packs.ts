import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { packsOf, type Pack } from '../../release/program.ts'
import { buildGateway } from '../../testing/gateway-program.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The files that npm would publish, and the folder of their tarballs. */
    readonly packed: { readonly packs: readonly Pack[]; readonly folder: string }
  }
}

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Packs every public package once for all tests, if they are built. */
export default function pack({ provide }: TestProject): (() => void) | undefined {
  if (!buildGateway()) return
  const places = ['packages', 'apps']
    .flatMap((place) => readdirSync(join(root, place)).map((name) => `${place}/${name}`))
    .filter((one) => !readFileSync(join(root, one, 'package.json'), 'utf8').includes('"private"'))
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-packs-'))
  provide('packed', { packs: packsOf(root, places, folder), folder })
  return () => {
    rmSync(folder, { recursive: true })
  }
}
