import type { RedisImports } from '@crossgear/redis-store'
import { reaching } from '../errors.ts'

/** Runs an act on the store that jobs go to; its failure names that. */
export function inTarget<Result>(act: () => Promise<Result>): Promise<Result> {
  return reaching('The target store', act)
}

/** Lanes into which a migration has put jobs. */
export async function lanesOf(imports: RedisImports, name: string): Promise<readonly string[]> {
  const fields = Object.keys(await inTarget(() => imports.migrations.progress(name)))
  return fields.flatMap((field) => (field.startsWith('lane:') ? [field.slice(5)] : []))
}
