import type { NotedMigration } from '@crossgear/redis-store'
import type { Metric } from 'prom-client'
import { gauge, type Value } from '../figure.ts'

/** Fields of a migration that are shown. */
export const notedFields = ['state', 'counts'] as const

/** Counts of `crossgear migrate`, and their labels. */
const shownAs = {
  read: 'read',
  created: 'stored',
  known: 'known',
  joined: 'joined',
  rejected: 'rejected',
  leftOut: 'left_out',
  removed: 'removed',
} as const

const ofStore = 'into this store, the same at every node'

/** Figures of `crossgear migrate`; none where the store knows of no migration. */
export function migrationFigures(migrations: readonly NotedMigration[]): readonly Metric[] {
  if (migrations.length === 0) return []
  return [
    gauge(
      'crossgear_migration_jobs',
      `Jobs of a migration ${ofStore}, as it noted them last, by what became of them`,
      migrations.flatMap(jobValues),
    ),
    gauge(
      'crossgear_migration_state',
      `1 for the state of a migration ${ofStore}: running (or killed), stopped, done`,
      migrations.map(({ name, fields: { state = '' } }) => [{ migration: name, state }, 1]),
    ),
    gauge(
      'crossgear_migration_last_note_seconds',
      `How long ago a migration ${ofStore} noted its progress: it grows where one was killed`,
      migrations.map(({ name, ageSeconds }) => [{ migration: name }, ageSeconds]),
    ),
  ]
}

/** None for one whose counts cannot be read, as an older tool's. */
function jobValues({ name, fields }: NotedMigration): readonly Value[] {
  const counts = countsOf(fields['counts'])
  if (!counts) return []
  return Object.entries(shownAs).map(([count, state]) => [
    { migration: name, state },
    counts[count] ?? 0,
  ])
}

function countsOf(text = ''): Readonly<Record<string, number>> | undefined {
  try {
    const counts: unknown = JSON.parse(text)
    const isRecord = typeof counts === 'object' && counts !== null
    const areNumbers = isRecord && Object.values(counts).every((one) => typeof one === 'number')
    return areNumbers ? (counts as Record<string, number>) : undefined
  } catch {
    return undefined
  }
}
