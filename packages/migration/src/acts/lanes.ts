import type { RedisImports } from '@crossgear/redis-store'
import { reaching } from '../errors.ts'

/** Lanes into which a migration has put jobs. */
export async function lanesOf(imports: RedisImports, name: string): Promise<readonly string[]> {
  const fields = Object.keys(
    await reaching('The target store', () => imports.migrations.progress(name)),
  )
  return fields.flatMap((field) => (field.startsWith('lane:') ? [field.slice(5)] : []))
}
